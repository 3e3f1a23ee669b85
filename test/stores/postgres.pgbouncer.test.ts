// The PostgreSQL store keeps every promise of the port behind a PgBouncer in transaction mode, with fewer connections
// to the server than two stores have (S04). Skipped where PgBouncer is not installed; CI installs it.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type OpenStore, storeConformance } from '../../src/stores/conformance/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { inserting } from '../support/inserting.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { type PgBouncer, canTrack, pgBouncerBinary, startPgBouncer } from '../support/postgres/pgbouncer.ts'

const binary = pgBouncerBinary()

describe.skipIf(binary === null)('behind PgBouncer (skipped: there is no pgbouncer on the path)', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>
  let bouncer: PgBouncer
  let stores: [InspectableStore, InspectableStore]
  let hand: pg.Client
  let opened = 0

  beforeAll(async () => {
    database = await newDatabase()
    bouncer = await startPgBouncer(binary ?? '', database.url, 6)
    const open = (): InspectableStore =>
      postgresStore({ connectionString: bouncer.url }, { callMs: 20_000, notify: false })
    stores = [open(), open()]
    await stores[0].migrate()
    hand = new pg.Client({ connectionString: database.url })
    await hand.connect()
  })

  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await hand.end()
    await bouncer.stop()
    await database.drop()
  })

  storeConformance(
    { describe, test },
    {
      name: 'postgres behind PgBouncer, two stores in turns',
      open: async (): Promise<OpenStore> => {
        const store = stores[opened++ % 2] as InspectableStore
        const { dump: _dump, snapshot: _snapshot, restore: _restore, reset: _reset, ...opaque } = store
        const unlease = async (token: string): Promise<void> => {
          const claim = 'select claim from holdfast.claim where token = $1'
          await hand.query(`delete from holdfast.lease where claim = (${claim})`, [token])
        }
        return { store: opaque, time: null, unlease, dispose: () => {} }
      },
    },
  )

  test('more calls at once than the pooler has connections all end well, on both stores', async () => {
    const calls = stores.flatMap((store, n) =>
      Array.from({ length: 20 }, (_, k) => store.jobs.insert(inserting(`at-once-${n}-${k}`))),
    )
    for (const reply of await Promise.all(calls)) expect(reply).toMatchObject({ kind: 'inserted' })
  })

  test('nothing stays set in a session that others get next', async () => {
    const { rows } = await hand.query(`select count(*)::int as open from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`)
    expect(rows).toEqual([{ open: 0 }])
    const through = new pg.Client({ connectionString: bouncer.url })
    await through.connect()
    for (const name of ['statement_timeout', 'enable_seqscan', 'default_transaction_isolation']) {
      const setting = `select setting = reset_val as unset from pg_settings where name = $1`
      expect((await through.query(setting, [name])).rows).toEqual([{ unset: true }])
    }
    await through.end()
  })

  test('named statements are refused at the first call, before one of them is sent', async () => {
    const store = postgresStore({ connectionString: bouncer.url }, { prepared: true, notify: false })
    const refused = {
      code: 'STORE_REFUSED',
      message: expect.stringMatching(
        /^prepared: true does not work here: a pooler .* does not track/,
      ) as string,
    }
    const calls = Array.from({ length: 8 }, () => store.jobs.insert(inserting('prepared')))
    for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ reason: refused })
    await expect(createEngine({ store }).start()).rejects.toMatchObject(refused)
    await expect(store.migrate()).rejects.toMatchObject(refused)
    expect(await stores[0].jobs.get({ id: 'prepared' })).toBe(null)
    await store.close()
  })

  test.skipIf(binary !== null && !canTrack(binary))(
    'named statements work where they are tracked (skipped: this PgBouncer cannot)',
    async () => {
      const tracking = await startPgBouncer(binary ?? '', database.url, 3, ['max_prepared_statements = 100'])
      const store = postgresStore({ connectionString: tracking.url }, { prepared: true, notify: false })
      const calls = Array.from({ length: 20 }, (_, n) => store.jobs.insert(inserting(`tracked-${n}`)))
      for (const reply of await Promise.all(calls)) expect(reply).toMatchObject({ kind: 'inserted' })
      await store.close()
      await tracking.stop()
    },
  )

  test('listening through it is found out', async () => {
    const store = postgresStore({ connectionString: bouncer.url })
    const why = await new Promise((resolve) => {
      store.hints?.listen({ onHint: () => {}, onState: (up, reason) => resolve(up || reason) })
    })
    expect(why).toMatch(/a pooler is in between/)
    await store.close()
  })
})
