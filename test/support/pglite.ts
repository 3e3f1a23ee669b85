import { PGlite } from '@electric-sql/pglite'
import type { OpenStore } from '../../src/stores/conformance/index.ts'
import { pgliteStore } from '../../src/stores/pglite/index.ts'

export interface MovedPglite {
  readonly open: () => Promise<OpenStore>
  readonly close: () => Promise<void>
}

const startMs = 1_760_000_000_000

/** One PGlite, whose clock the test moves; it takes seconds to make, so it is emptied at each opening. */
export async function movedPglite(): Promise<MovedPglite> {
  let nowMs = startMs
  const database = await PGlite.create()
  const { now } = Date
  const run = database.execProtocolRawSync.bind(database)
  // PostgreSQL asks for the time in here and nowhere else, and always comes back before anybody else can.
  database.execProtocolRawSync = (message) => {
    Date.now = () => nowMs
    try {
      return run(message)
    } finally {
      Date.now = now
    }
  }
  const store = pgliteStore({ database }, { callMs: 20_000 })
  await store.migrate()
  return {
    open: async () => {
      nowMs = startMs
      await store.reset()
      return {
        store,
        time: { advance: (ms) => void (nowMs += ms) },
        unlease: async (token) => {
          const drop =
            'delete from holdfast.lease where claim = (select claim from holdfast.claim where token = $1)'
          await database.query(drop, [token])
        },
        dispose: () => {},
      }
    },
    close: () => database.close(),
  }
}
