// The PostgreSQL store keeps every promise of the port: on direct connections under a clock that the test moves, and
// as behind a transaction pooler, on the server's own time, in a database that others use too.
import pg from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type OpenStore, storeConformance } from '../../src/stores/conformance/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { type MovedServer, movedServer } from '../support/postgres/moved.ts'
import { newDatabase } from '../support/postgres/database.ts'

let moved: MovedServer
let shared: Shared

interface Shared {
  readonly store: InspectableStore
  readonly unlease: (token: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** The parameters in this URL win over those that the store asks for: its connections come up as a pooler's do. */
async function openShared(): Promise<Shared> {
  const { url, drop } = await newDatabase()
  const pooled = `${url}?options=${encodeURIComponent('-c application_name=pooler')}`
  const store = postgresStore({ connectionString: pooled }, { callMs: 20_000, schema: 'jobs_of_ours' })
  await store.migrate()
  const hand = new pg.Client({ connectionString: url })
  await hand.connect()
  return {
    store,
    unlease: async (token) => {
      const claim = 'select claim from jobs_of_ours.claim where token = $1'
      await hand.query(`delete from jobs_of_ours.lease where claim = (${claim})`, [token])
    },
    close: async () => {
      await store.close()
      await hand.end()
      await drop()
    },
  }
}

beforeAll(async () => {
  moved = await movedServer()
  shared = await openShared()
})

afterAll(async () => {
  await moved.close()
  await shared.close()
})

storeConformance({ describe, test }, { name: 'postgres under a moved clock', open: () => moved.open() })

storeConformance(
  { describe, test },
  {
    name: 'postgres, shared and in real time',
    open: async (): Promise<OpenStore> => {
      const { store, unlease } = shared
      const { dump: _dump, snapshot: _snapshot, restore: _restore, reset: _reset, ...opaque } = store
      return { store: opaque, time: null, unlease, dispose: () => {} }
    },
  },
)
