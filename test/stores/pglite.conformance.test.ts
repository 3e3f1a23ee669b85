// The PGlite store keeps every promise of the port: under a clock that the test moves, and on real time, beside
// somebody else's tables and settings.
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type OpenStore, storeConformance } from '../../src/stores/conformance/index.ts'
import { pgliteStore } from '../../src/stores/pglite/index.ts'
import { type MovedPglite, movedPglite } from '../support/pglite.ts'

let moved: MovedPglite
let theirs: PGlite
let shared: InspectableStore

beforeAll(async () => {
  moved = await movedPglite()
  theirs = await PGlite.create({ parsers: { 20: (text) => `${text} of theirs`, 25: () => 'theirs' } })
  shared = pgliteStore({ database: theirs }, { callMs: 20_000, schema: 'jobs_of_ours' })
  await shared.migrate()
}, 60_000)

afterAll(async () => {
  await moved.close()
  await theirs.close()
})

storeConformance({ describe, test }, { name: 'pglite under a moved clock', open: () => moved.open() })

storeConformance(
  { describe, test },
  {
    name: 'pglite in real time',
    open: async (): Promise<OpenStore> => {
      const { dump: _dump, snapshot: _snapshot, restore: _restore, reset: _reset, ...opaque } = shared
      return { store: opaque, time: null, dispose: () => {} }
    },
  },
)
