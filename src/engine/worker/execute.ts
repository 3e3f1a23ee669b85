import type { AnyJob } from '../jobs/definition.ts'
import { handlerInput } from '../jobs/input.ts'
import type { Outcome } from '../jobs/record.ts'
import { Context, type Executed } from './context.ts'
import { wrapped } from './middleware.ts'
import { failureOf, resultOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'

/**
 * Runs the handler of one attempt, with its input, its context and the middleware around it. Never throws: what
 * it did is an outcome, before any reason that there was to end it.
 */
export async function execute(parts: WorkerParts, definition: AnyJob, attempt: Executed): Promise<Outcome> {
  const { job } = attempt
  const { id } = job.spec
  let context: Context | null = null
  try {
    const input = handlerInput(definition, job.spec, parts.payloads)
    const own = new Context(parts, attempt, (input instanceof Promise ? await input : input) as never)
    context = own
    const value = await parts.executor.run({ id, epoch: job.epoch }, () =>
      wrapped(parts.middleware, own, () => definition.run(own)),
    )
    const result = resultOf(id, value, parts.payloads)
    return { kind: 'succeeded', result: result instanceof Promise ? await result : result }
  } catch (error) {
    return failureOf(error, job, parts.random)
  } finally {
    context?.end()
  }
}
