import { HoldfastError } from '../engine/errors.ts'
import { type Clock, sleep } from '../engine/ports/clock.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

/** Work beside jobs that only one process of the fleet may do at a time: each tries now and then. */
export interface Duty {
  readonly key: string
  readonly ttlMs: number
  /** Between two tries of one process, at most. */
  readonly everyMs: number
  /** How long it takes, at most: longer than the lease, so that it must be renewed. */
  readonly workMs: number
}

export function keepDuty(world: World, owner: Incarnation, clock: Clock, duty: Duty): void {
  const { key, ttlMs, everyMs, workMs } = duty
  let turn = 0

  function next(): void {
    turn += 1
    const waitMs = 1 + world.chooser.below(everyMs, 'duty', owner.node.name, `wait ${owner.number}`, turn)
    world.schedule(owner, waitMs, 'duty', () => void tryOnce())
  }

  async function tryOnce(): Promise<void> {
    if (owner.stopping || !owner.engine) return
    const forMs = 1 + world.chooser.below(workMs, 'duty', owner.node.name, `work ${owner.number}`, turn)
    try {
      await owner.engine.exclusive(key, ({ signal }) => sleep(clock, forMs, 'duty-work', signal), { ttlMs })
    } catch (error) {
      // The lease was lost, or the store did not answer: somebody else does it, or the next turn.
      if (!(error instanceof HoldfastError)) return world.fail(error)
    }
    next()
  }

  next()
}
