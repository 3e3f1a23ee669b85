import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export interface About {
  readonly version: string
  /** Digest of the engine's and the stores' code, so that a replay can tell whether it runs what was recorded. */
  readonly engine: string
}

const dist = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

export function about(): About {
  const manifest = JSON.parse(readFileSync(path.join(dist, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  const hash = createHash('sha256')
  for (const part of ['engine', 'stores']) {
    const files = readdirSync(path.join(dist, part), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((name) => name.endsWith('.js')).sort()) {
      hash.update(file.replaceAll('\\', '/')).update(readFileSync(path.join(dist, part, file)))
    }
  }
  return { version: manifest.version, engine: hash.digest('hex').slice(0, 7) }
}
