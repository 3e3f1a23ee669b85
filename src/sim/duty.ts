import { HoldfastError } from '../engine/errors.ts'
import { type Clock, sleep } from '../engine/ports/clock.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

/** Work beside jobs that only one process of the fleet may do at a time. */
export type Duty = OccasionalDuty | LeadersDuty

interface Work {
  readonly key: string
  readonly ttlMs: number
  /** How long it takes, at most: longer than the lease, so that it must be renewed. */
  readonly workMs: number
}

/** Each process tries now and then. */
interface OccasionalDuty extends Work {
  /** Between two tries of one process, at most. */
  readonly everyMs: number
  readonly leads?: false
}

/** The leader's: it steps down when a piece of work is done, and now and then the work throws. */
interface LeadersDuty extends Work {
  readonly leads: true
}

export function keepDuty(world: World, owner: Incarnation, clock: Clock, duty: Duty): void {
  if (duty.leads) leadDuty(world, owner, clock, duty)
  else tryDuty(world, owner, clock, duty)
}

const throwsOneIn = 6

function leadDuty(world: World, owner: Incarnation, clock: Clock, { key, ttlMs, workMs }: LeadersDuty): void {
  let term = 0
  owner.engine?.lead(
    key,
    async ({ signal }) => {
      term += 1
      const draw = (bound: number, what: string): number =>
        world.chooser.below(bound, 'leader', owner.node.name, `${what} ${owner.number}`, term)
      await sleep(clock, 1 + draw(workMs, 'work'), 'duty-work', signal)
      if (draw(throwsOneIn, 'throws') === 0) throw new Error('this piece of work cannot be done')
    },
    { ttlMs },
  )
}

function tryDuty(world: World, owner: Incarnation, clock: Clock, duty: OccasionalDuty): void {
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
