// The PostgreSQL store keeps every promise of the port: under a clock that the test moves, and shared and on the
// server's own time, where several connections are in each other's way.
import pg from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type OpenStore, storeConformance } from '../../src/stores/conformance/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { type MovedServer, movedServer } from '../support/postgres/moved.ts'
import { newDatabase } from '../support/postgres/database.ts'

let moved: MovedServer
let shared: { readonly store: InspectableStore; readonly drop: () => Promise<void> }

beforeAll(async () => {
  moved = await movedServer()
  const { url, drop } = await newDatabase()
  const store = postgresStore({ pool: new pg.Pool({ connectionString: url }) }, { callMs: 20_000 })
  await store.migrate()
  shared = { store, drop }
})

afterAll(async () => {
  await moved.close()
  await shared.store.close()
  await shared.drop()
})

storeConformance({ describe, test }, { name: 'postgres under a moved clock', open: () => moved.open() })

storeConformance(
  { describe, test },
  {
    name: 'postgres, shared and in real time',
    open: async (): Promise<OpenStore> => {
      const { dump: _dump, snapshot: _snapshot, restore: _restore, reset: _reset, ...opaque } = shared.store
      return { store: opaque, time: null, dispose: () => {} }
    },
  },
)
