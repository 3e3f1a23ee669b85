import { InvalidArgument } from '../../engine/errors.ts'
import type { Migrated, Store } from '../../engine/ports/store.ts'
import { inert } from '../../report/format.ts'
import { type ExitCode, type PlaceOptions, atPlace, ofPostgres } from '../place.ts'

export interface MigrateOptions extends PlaceOptions {
  readonly runtimeRole?: string
  readonly sql?: boolean
}

/** Creates or upgrades the tables, or prints the SQL for that; answers the exit code. Throws for wrong usage. */
export async function migrate(options: MigrateOptions): Promise<ExitCode> {
  if (options.sql) return printSql(options)
  const make = async (store: Store, says: string): Promise<ExitCode> => {
    process.stdout.write(`${says}: ${summaryOf(await store.migrate(), options)}\n`)
    return 0
  }
  return atPlace(options, make, { creates: true })
}

async function printSql({ databaseUrl, file, schema, runtimeRole }: MigrateOptions): Promise<ExitCode> {
  if (databaseUrl !== undefined || file !== undefined) {
    throw new InvalidArgument(
      '--sql touches no database, and is PostgreSQL: leave --database-url and --file out',
    )
  }
  const { migrationSql } = await import('../../stores/postgres/index.ts')
  process.stdout.write(migrationSql(ofPostgres({ schema, runtimeRole })))
  return 0
}

function summaryOf({ from, to }: Migrated, { runtimeRole }: MigrateOptions): string {
  const did =
    from === to
      ? `the tables are at version ${to} already`
      : from === 0
        ? `the tables were made, at version ${to}`
        : `the tables were upgraded from version ${from} to ${to}`
  return runtimeRole === undefined ? did : `${did}; role ${inert(runtimeRole)} may work with them`
}
