import { StoreUnavailable } from '../engine/errors.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

/**
 * An operator who looks at what there is, beside the one who gives commands: all jobs or those of one queue, page by
 * page, and how many of what kind there are. Pages are read at leisure, so that jobs come and end between two of them.
 */
export interface Looker {
  /** Looks at everything once more, without a pause. */
  last(): Promise<void>
}

/** So small that a listing has many pages. */
const pageJobs = 7
const leisureMsMax = 3_000

export function startLooking(world: World, owner: Incarnation, everyMs: number): Looker {
  let looks = 0
  /** One thing after the other, as one person does. */
  let busy: Promise<void> = Promise.resolve()
  const queues = [...new Set(world.nodes.flatMap(({ queues }) => Object.keys(queues)))].sort()
  world.schedule(owner, everyMs, 'look', look)

  function look(): void {
    const nth = looks++
    // Everything, then each queue, and so on in turns.
    const queue = [null, ...queues][nth % (queues.length + 1)] ?? null
    const leisureMs = (page: number): number =>
      world.chooser.below(leisureMsMax, 'look', owner.node.name, String(nth), page)
    const again = (): void => void world.schedule(owner, everyMs, 'look', look)
    void looked(queue, leisureMs).then(again)
  }

  function looked(queue: string | null, leisureMs: (page: number) => number): Promise<void> {
    return (busy = busy.then(() => lookedOnce(queue, leisureMs)))
  }

  async function lookedOnce(queue: string | null, leisureMs: (page: number) => number): Promise<void> {
    try {
      await counted()
      await listed(queue, leisureMs)
    } catch (error) {
      // A look that fails is given up: there will be another.
      if (!(error instanceof StoreUnavailable)) world.fail(error)
    }
  }

  async function counted(): Promise<void> {
    await owner.engine?.counts()
  }

  async function listed(queue: string | null, leisureMs: (page: number) => number): Promise<void> {
    if (!owner.engine) return
    const jobs: string[] = []
    let pages = 0
    world.recorder.happened(owner, { type: 'jobs.listing', queue })
    const all = owner.engine.listAll({ limit: pageJobs, payloads: false, ...(queue !== null && { queue }) })
    for await (const page of all) {
      jobs.push(...page.jobs.map(({ spec }) => spec.id))
      const waitMs = page.next === null ? 0 : leisureMs(++pages)
      if (waitMs > 0) await new Promise<void>((resolve) => world.schedule(owner, waitMs, 'look', resolve))
    }
    world.recorder.happened(owner, { type: 'jobs.listed', queue, jobs })
  }

  return { last: () => looked(null, () => 0) }
}
