import { spawn } from 'node:child_process'
import { HoldfastError } from '../engine/errors.ts'

/** There is no program on this machine that opens a file for its user. The message names the file. */
class NoOpener extends HoldfastError {
  readonly code = 'NO_OPENER'
}

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', win32: 'explorer.exe' }

/** Opens a file with the program that its user has chosen for it, and does not wait for that. Throws `NoOpener`. */
export async function openFile(file: string): Promise<void> {
  const opener = openers[process.platform] ?? 'xdg-open'
  const child = spawn(opener, [file], { detached: true, stdio: 'ignore' })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (cause) =>
      reject(
        new NoOpener(`${opener} cannot be started (${cause.message}); open ${file} yourself`, { cause }),
      ),
    )
  })
  child.unref()
}
