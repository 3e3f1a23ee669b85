import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Failure } from '../sim/tally.ts'
import { replayOf } from '../sim/replay.ts'
import type { About } from './about.ts'

/** Writes a file, making its folder. A report that cannot be written is told, and changes no verdict. */
export function write(file: string, text: string): boolean {
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
    return true
  } catch (error) {
    process.stderr.write(
      `could not write ${file}: ${error instanceof Error ? error.message : String(error)}\n`,
    )
    return false
  }
}

/** Writes the replay file of a failure that has one; answers its path. */
export function writeReplay(
  directory: string,
  failure: Failure,
  from: About & { readonly store: string; readonly file: string | null },
): string | null {
  const { result } = failure
  if (!result?.draws && !result?.deviations) return null
  const which = result.deviations ? result.scenario : failure.seed.slice(2)
  const name = `${failure.property}-${which}.json`.replaceAll(/[^a-z0-9.-]/gi, '_')
  const file = path.join(directory, 'failures', name)
  const { version, engine, store } = from
  // Relative to where the command runs: a path of this machine has no business in a file that is sent around.
  const module = from.file === null ? null : path.relative('', from.file)
  return write(file, JSON.stringify(replayOf(result, { version, engine, file: module, store }))) ? file : null
}
