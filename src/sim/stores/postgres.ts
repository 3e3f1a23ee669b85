import pg from 'pg'
import { InvalidArgument } from '../../engine/errors.ts'
import { textOf } from '../../engine/jobs/text.ts'
import type { InspectableStore, StoreSnapshot } from '../../engine/ports/store.ts'
import { systemClock } from '../../engine/system.ts'
import { migrationSql } from '../../stores/postgres/migrations/script.ts'
import { schemaTexts } from '../../stores/postgres/names.ts'
import { openDatabase } from '../../stores/postgres/pool.ts'
import { storeOver } from '../../stores/postgres/store.ts'
import { nextTurn } from '../barrier.ts'
import { leakGuard } from '../guard/guard.ts'
import type { Ground, Place, SimulatedStore } from './simulated.ts'

/**
 * The production store on a real server, in a schema of this thread's own. First in the search path of its
 * connections is that schema, with a `now()` that reads the world's time from a row. An answer takes real time,
 * for which the world stands still; the guard sees nothing of it, since no event is firing meanwhile.
 */
export async function openPostgres(ground: Ground | null): Promise<SimulatedStore> {
  if (!ground) throw new InvalidArgument(needsServer)
  const { databaseUrl: connectionString, schema } = ground
  const hand = await connected(connectionString)
  await hand.query(`create schema ${schema}; ${clockIn(schema)}`)
  const migrationScript = migrationSql({ schema })
  await hand.query(migrationScript)
  const text = schemaTexts(schema)
  const store = storeOver(
    openDatabase({
      connection: { connectionString, options: `-c search_path=${schema},pg_catalog` },
      clock: systemClock,
      callMs,
      connections: 1,
      prepared: true,
      // Whatever it was about fails, and that ends the run.
      onLost: () => {},
      text,
    }),
    { name: 'postgres', callMs: 5_000, text, migrationScript },
  )
  return {
    open: async (time) => {
      await store.reset()
      return onTime(store, time, async (ms) => {
        await hand.query({ name: 'time', text: `update ${schema}.clock set ms = $1`, values: [ms] })
      })
    },
    close: async () => {
      await store.close()
      await hand.end()
    },
  }
}

export const needsServer =
  'the store postgres needs a server: name a database that may be written to by --database-url or DATABASE_URL'

/** In real time, of which nodes know nothing. What the server takes longer for ends the run. */
const callMs = 60_000

function clockIn(schema: string): string {
  return `create unlogged table ${schema}.clock (ms bigint not null);
    insert into ${schema}.clock values (0);
    create function ${schema}.now() returns timestamptz stable language sql
      as $$ select timestamptz 'epoch' + (select ms from ${schema}.clock) * interval '1 millisecond' $$;`
}

/** Each operation of `store` at the time that `time` says when it is asked. */
function onTime(
  store: InspectableStore,
  time: { nowMs(): number },
  setMs: (ms: number) => Promise<void>,
): InspectableStore {
  const guard = leakGuard()
  /** What is asked while an event fires goes to the server when it has fired, in a turn of the real loop. */
  const turn = (): Promise<void> => guard.exempt(nextTurn)
  let setAtMs: number | null = null
  const timed = <P, R>(operate: (params: P) => Promise<R>) => {
    return async (params: P): Promise<R> => {
      const ms = time.nowMs()
      await turn()
      if (ms !== setAtMs) await setMs(ms)
      setAtMs = ms
      return operate(params)
    }
  }
  const each = <F extends object>(facet: F): F =>
    Object.fromEntries(Object.entries(facet).map(([name, operate]) => [name, timed(operate)])) as F
  return {
    ...store,
    jobs: each(store.jobs),
    claims: each(store.claims),
    watch: each(store.watch),
    leases: each(store.leases),
    control: each(store.control),
    queries: each(store.queries),
    schedules: each(store.schedules),
    deadLetters: each(store.deadLetters),
    logs: each(store.logs),
    retention: each(store.retention),
    ...(store.commits && { commits: each(store.commits) }),
    now: () => timed(() => store.now())(null),
    dump: () => timed(() => store.dump())(null),
    snapshot: () => timed(() => store.snapshot())(null),
    restore: timed((snapshot: StoreSnapshot) => store.restore(snapshot)),
    // The next run has the store after this one.
    close: async () => {},
  }
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  // Whoever waits for an answer hears of it anyway.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    throw new InvalidArgument(`no PostgreSQL answers at the database URL: ${textOf(error)}`, { cause: error })
  }
}

/** A schema for each thread, all dropped in the end. Throws `InvalidArgument` where nobody answers at the URL. */
export async function placeOn(databaseUrl: string, tag: string): Promise<Place> {
  await (await connected(databaseUrl)).end()
  const schemas: string[] = []
  return {
    groundOf: (thread) => {
      const schema = `holdfast_sim_${tag}_${thread}`
      schemas.push(schema)
      return { databaseUrl, schema }
    },
    drop: async () => {
      const client = await connected(databaseUrl)
      try {
        for (const schema of schemas) await client.query(`drop schema if exists ${schema} cascade`)
      } finally {
        await client.end()
      }
    },
  }
}
