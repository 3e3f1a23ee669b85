import { HoldfastError, InputInvalid, PermanentFailure, ResultInvalid } from '../engine/errors.ts'
import type { AttemptContext } from '../engine/jobs/context.ts'
import { toJson } from '../engine/jobs/json.ts'
import type { Clock } from '../engine/ports/clock.ts'
import type { Middleware } from '../engine/worker/middleware.ts'
import { misbehaviourOf } from './faults/handler.ts'
import { digest } from './hash.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

type Ended = {
  readonly how: 'returned' | 'threw' | 'neither'
  readonly permanent: boolean
  readonly result: number
}

/**
 * Stands around every handler and tells the history what the handler got, when its signal fired, and what it
 * returned or threw: what the engine makes of it is compared with that. Handlers that misbehave do so here.
 */
export function createWitness(world: World, owner: Incarnation, clock: Clock): Middleware {
  const { recorder } = world
  const kinds = new Map(owner.node.jobs.map((job) => [job.name, job]))

  return async (context, next) => {
    // The executor has just said whom it calls, and nothing was awaited since.
    const { job, epoch } = owner.entering ?? { job: context.job.id, epoch: 0 }
    const definition = kinds.get(context.job.kind)
    // What a schema made of the input is its own affair.
    const input = definition?.input ? 0 : digest(toJson(context.input))
    const abortsUncertain = definition?.settings.onUncertainLease === 'abort'
    recorder.happened(owner, { type: 'handler.began', job, epoch, input, abortsUncertain })
    watch(context, job, epoch)
    const misbehave = misbehaviourOf(world, owner, clock)
    try {
      const value = await (misbehave ? misbehave(context, next) : next())
      ended(job, epoch, resultOf(value))
      return value
    } catch (error) {
      ended(job, epoch, { how: 'threw', permanent: isPermanent(error), result: 0 })
      throw error
    }
  }

  function watch({ signal }: AttemptContext<unknown>, job: string, epoch: number): void {
    const fired = (): void => {
      const code = signal.reason instanceof HoldfastError ? signal.reason.code : 'OTHER'
      recorder.happened(owner, { type: 'handler.signalled', job, epoch, code })
    }
    if (signal.aborted) fired()
    else signal.addEventListener('abort', fired, { once: true })
  }

  function ended(job: string, epoch: number, end: Ended): void {
    const { how, permanent, result } = end
    recorder.happened(owner, { type: 'handler.ended', job, epoch, how, permanent, result })
  }
}

function resultOf(value: unknown): Ended {
  try {
    return { how: 'returned', permanent: false, result: digest(toJson(value)) }
  } catch {
    return { how: 'neither', permanent: true, result: 0 }
  }
}

function isPermanent(thrown: unknown): boolean {
  try {
    return [PermanentFailure, InputInvalid, ResultInvalid].some((type) => thrown instanceof type)
  } catch {
    // A revoked proxy throws when it is asked for its prototype.
    return false
  }
}
