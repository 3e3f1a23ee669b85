import type { Migrated } from '../../../engine/ports/store.ts'
import { SchemaUnusable } from '../../errors.ts'
import type { Database, Session } from '../database.ts'
import { checksum } from './script.ts'
import { steps } from './steps.ts'

/**
 * Creates or upgrades the tables, unless they are there. What a newer release made is refused, or left as it is.
 * `grants`: the script also says what a role may do, and runs in any case.
 */
export async function migrate(database: Database, script: string, grants: boolean): Promise<Migrated> {
  const found = await database.autocommit('common', schemaOf)
  requireWorkable(found)
  if (found.version < known() || grants) await database.script(script)
  const made = await database.autocommit('common', schemaOf)
  requireWorkable(made)
  await requireUnchanged(database)
  return { from: found.version, to: made.version }
}

/** Before the first operation: throws `SchemaUnusable` if `migrate` never ran here, or a newer release's did. */
export async function requireSchema(session: Session): Promise<void> {
  const found = await schemaOf(session)
  requireWorkable(found)
  if (found.version >= known()) return
  const state = found.version === 0 ? 'has no tables of Holdfast' : 'was made by an older release'
  throw new SchemaUnusable(`the database ${state}; call migrate() first`)
}

interface Found {
  readonly version: number
  readonly needs: number
}

/** Two statements: the second cannot be parsed where there is no such table. */
async function schemaOf(session: Session): Promise<Found> {
  const [there] = await session.query<[boolean]>(`select to_regclass('holdfast.migration') is not null`)
  if (!there?.[0]) return { version: 0, needs: 0 }
  const newest = 'select version, needs from holdfast.migration order by version desc limit 1'
  const [row] = await session.query<[version: number, needs: number]>(newest)
  return { version: row?.[0] ?? 0, needs: row?.[1] ?? 0 }
}

function requireWorkable({ version, needs }: Found): void {
  if (needs <= known()) return
  throw new SchemaUnusable(
    `the database has schema version ${version}, which needs a release that knows version ${needs}; ` +
      `this one knows ${known()}: upgrade holdfast`,
  )
}

/** A step that was changed after it was applied would leave two kinds of databases under one version. */
async function requireUnchanged(database: Database): Promise<void> {
  const rows = await database.autocommit('common', (session) =>
    session.query<[version: number, checksum: string]>('select version, checksum from holdfast.migration'),
  )
  const applied = new Map(rows)
  const changed = steps.find(({ version, sql }) => (applied.get(version) ?? checksum(sql)) !== checksum(sql))
  if (changed) {
    throw new SchemaUnusable(
      `schema version ${changed.version} of the database was made by another text than this release has: ` +
        'use the release that made it, or a newer one',
    )
  }
}

function known(): number {
  return steps.at(-1)?.version ?? 0
}
