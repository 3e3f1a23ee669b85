import pg from 'pg'
import type { InspectableStore } from '../../../src/engine/ports/store.ts'
import type { OpenStore } from '../../../src/stores/conformance/index.ts'
import { type PostgresOptions, postgresStore } from '../../../src/stores/postgres/index.ts'
import { newDatabase } from './database.ts'

/** A store in a database whose `now()` is a row that the test moves; emptied at each opening. */
export interface MovedServer {
  readonly open: () => Promise<OpenStore>
  readonly url: string
  /** The store of another process on the same database, perhaps by another way; for the caller to close. */
  readonly another: (options?: PostgresOptions, by?: string) => InspectableStore
  /** A connection of the test's own to the database, under the same clock, for the caller to end. */
  readonly connect: () => Promise<pg.Client>
  readonly close: () => Promise<void>
}

/** First in the search path, so that it is found before the real one, which stays reachable by its full name. */
const clock = `create schema sim;
  create table sim.clock (ms bigint not null);
  insert into sim.clock values (0);
  create function sim.now() returns timestamptz stable language sql
    as $$ select timestamptz 'epoch' + (select ms from sim.clock) * interval '1 millisecond' $$;`

const searchPath = 'search_path=sim,pg_catalog'

/** The same, coming up as behind a transaction pooler: without the parameters that the store asks for. */
export function asPooled(url: string): string {
  return `${url}?options=${encodeURIComponent(`-c ${searchPath}`)}`
}

const startMs = 1_760_000_000_000

export async function movedServer(options: PostgresOptions = {}): Promise<MovedServer> {
  const { url, drop } = await newDatabase()
  const hand = new pg.Client({ connectionString: url })
  await hand.connect()
  await hand.query(clock)
  const connection = { connectionString: url, options: `-c ${searchPath}` }
  const another = (more: PostgresOptions = {}, by = url): InspectableStore => {
    const pool = new pg.Pool({ ...connection, connectionString: by })
    return postgresStore({ pool }, { callMs: 20_000, ...options, ...more })
  }
  const store = another()
  const schema = options.schema ?? 'holdfast'
  await hand.query('update sim.clock set ms = $1', [startMs])
  await store.migrate()
  return {
    open: async () => {
      await store.reset()
      await hand.query('update sim.clock set ms = $1', [startMs])
      return {
        store,
        time: {
          advance: async (ms) => void (await hand.query('update sim.clock set ms = ms + $1', [ms])),
        },
        unlease: async (token) => {
          await hand.query(
            `delete from ${schema}.lease where claim = (select claim from ${schema}.claim where token = $1)`,
            [token],
          )
        },
        dispose: () => {},
      }
    },
    url,
    another,
    connect: async () => {
      const client = new pg.Client(connection)
      await client.connect()
      return client
    },
    close: async () => {
      await store.close()
      await hand.end()
      await drop()
    },
  }
}
