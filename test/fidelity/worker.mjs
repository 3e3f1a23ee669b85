// One real process with the production engine on a real PostgreSQL. What it does goes to a file, a line an event,
// as it happens: whatever ends the process, what it did before is there.
import { appendFileSync } from 'node:fs'
import { createEngine, defineJob } from '../../dist/index.js'
import { systemClock } from '../../dist/engine/system.js'
import { historyOf } from '../../dist/sim/history-of.js'
import { createWitness } from '../../dist/sim/witness.js'
import { postgresStore } from '../../dist/stores/postgres/index.js'

/** @type {import('./support/fleet.ts').WorkerOptions} */
const { name, url, file, skewMs, intervals, callMs, concurrency } = JSON.parse(process.argv[2] ?? '')

/** @param {object} event */
function tell(event) {
  const line = { ns: String(process.hrtime.bigint()), event }
  appendFileSync(file, `${JSON.stringify(line)}\n`)
  process.send?.(event)
}

/** The wall clock of this machine is wrong. */
const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + skewMs }

export const work = defineJob({
  name: 'work',
  retry: { maxAttempts: 3, backoff: { kind: 'constant', delayMs: 200 } },
  /** @param {import('../../dist/index.js').AttemptContext<{ readonly ms: number }>} context */
  run: async ({ input, sleep }) => {
    await sleep(input.ms)
    return { slept: input.ms }
  },
})

/** The same witness as in the simulation, with a world that only listens. */
const owner = /** @type {import('../../dist/sim/node.js').Incarnation} */ (
  /** @type {unknown} */ ({ node: { jobs: [work], armed: [] }, entering: null })
)
const recorder = { happened: (/** @type {unknown} */ _, /** @type {object} */ event) => tell(event) }
const world = /** @type {import('../../dist/sim/world.js').World} */ (/** @type {unknown} */ ({ recorder }))

/**
 * What a call did to the store is told by the store itself. What it did not do is known from its answer alone.
 * @param {import('../../dist/index.js').Store} store
 */
function telling(store) {
  const told = new Set(['claim.refused', 'claim.voided', 'claim.recovered', 'reclaim.heldBack'])
  /**
   * @template {object} F
   * @param {string} facet
   * @param {F} calls
   */
  const each = (facet, calls) => {
    const entries = Object.entries(calls).map(([call, ask]) => [
      call,
      async (/** @type {unknown} */ params) => {
        const reply = await ask(params)
        const name = /** @type {import('../../dist/stores/policy.js').StoreCall} */ (`${facet}.${call}`)
        for (const event of historyOf(name, params, reply)) {
          const refused = event.type === 'job.settled' && event.settled !== 'applied'
          if (refused || told.has(event.type)) tell(event)
        }
        return reply
      },
    ])
    return /** @type {F} */ (Object.fromEntries(entries))
  }
  return { ...store, jobs: each('jobs', store.jobs), claims: each('claims', store.claims) }
}

const witness = createWitness(world, owner, clock, owner.node.jobs)
const store = postgresStore({ connectionString: url }, { callMs })
const engine = createEngine({
  store: telling(store),
  name,
  jobs: witness.jobs,
  queues: { default: { concurrency } },
  intervals,
  clock,
  observer: { event: tell },
  middleware: witness.middleware,
  executor: {
    run: ({ id: job, epoch }, handler) => {
      owner.entering = { job, epoch }
      return handler()
    },
  },
})

process.on('message', (/** @type {{ readonly drainMs: number }} */ { drainMs }) => void stop(drainMs))

/** @param {number} drainMs */
async function stop(drainMs) {
  tell({ type: 'node.stopping', drainMs })
  await engine.stop({ drainMs })
  await store.close()
  process.disconnect()
}

tell({ type: 'node.started', queues: { default: concurrency }, kinds: ['work'] })
await engine.start()
