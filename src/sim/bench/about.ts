import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export interface About {
  readonly version: string
  /** Digest of the engine's and the stores' code, so that a replay can tell whether it runs what was recorded. */
  readonly engine: string
}

/** Where this code lies: the build, or the source under a test runner that compiles. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const isCode = /(?<!\.d)\.[jt]s$/

export function about(): About {
  const manifest = JSON.parse(readFileSync(path.join(root, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  const hash = createHash('sha256')
  for (const part of ['engine', 'stores']) {
    const files = readdirSync(path.join(root, part), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((name) => isCode.test(name)).sort()) {
      hash.update(file.replaceAll('\\', '/')).update(readFileSync(path.join(root, part, file)))
    }
  }
  return { version: manifest.version, engine: hash.digest('hex').slice(0, 7) }
}
