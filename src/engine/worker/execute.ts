import type { AnyJob } from '../jobs/definition.ts'
import type { Commit } from '../jobs/context.ts'
import { handlerInput } from '../jobs/input.ts'
import type { Outcome } from '../jobs/record.ts'
import type { ClaimedJob } from '../ports/store.ts'
import { contextOf } from './context-of.ts'
import type { LazySignal } from './lazy-signal.ts'
import { wrapped } from './middleware.ts'
import { failureOf, successOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'
import { createTimerGroup } from './timer-group.ts'

/**
 * Runs the handler of one attempt, with its input, its context and the middleware around it. Never throws: what
 * it did is an outcome, before any reason that there was to end it.
 */
export async function execute(
  parts: WorkerParts & { readonly commit: Commit },
  definition: AnyJob,
  job: ClaimedJob,
  interruption: LazySignal,
  lease: () => boolean,
): Promise<Outcome> {
  const { id } = job.spec
  const timers = createTimerGroup(parts.clock)
  try {
    const input = await handlerInput(definition, job.spec, parts.payloads)
    const context = contextOf(parts, timers.clock, job, input, interruption, lease, parts.commit)
    const value = await parts.executor.run({ id, epoch: job.epoch }, () =>
      wrapped(parts.middleware, context, async () => definition.run(context)),
    )
    return await successOf(id, value, parts.payloads)
  } catch (error) {
    return failureOf(error, job, parts.random)
  } finally {
    timers.cancel()
  }
}
