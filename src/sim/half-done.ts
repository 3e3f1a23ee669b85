import { enqueueAll } from '../engine/jobs/enqueue.ts'
import type { Enqueued } from '../engine/jobs/insert.ts'
import { payloadsOf } from '../engine/jobs/payloads.ts'
import type { Store } from '../engine/ports/store.ts'
import { defaultIntervals } from '../engine/settings.ts'
import { createNodeClock } from './clock/node-clock.ts'
import type { Incarnation } from './node.ts'
import type { WorkItem } from './scenarios/scenario.ts'
import type { World } from './world.ts'

/** Creates jobs as a producer does that dies before it gives them their place in the queue. */
export function enqueueHalf(
  world: World,
  owner: Incarnation,
  store: Store,
  items: readonly WorkItem[],
): Promise<Enqueued[]> {
  const insert: Store['jobs']['insert'] = (params) => {
    const jobs = params.jobs.map(({ spec }) => ({ spec, due: { undispatched: true } as const }))
    return store.jobs.insert({ ...params, jobs })
  }
  const half = { ...store, jobs: { ...store.jobs, insert } }
  const ordinal = ++owner.ordinal
  return enqueueAll(
    {
      store: half,
      clock: createNodeClock(world, owner, 0),
      random: { id: (stream) => `half.${owner.who}.${stream}.${ordinal}`, unit: () => 0 },
      intervals: defaultIntervals,
      payloads: payloadsOf(undefined),
      ask: (_call, answer) => answer,
    },
    items.map(({ job, input, options }) => ({ ...options, job, input })),
  )
}
