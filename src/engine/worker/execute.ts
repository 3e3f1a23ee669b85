import type { AnyJob } from '../jobs/definition.ts'
import { handlerInput } from '../jobs/input.ts'
import type { Outcome } from '../jobs/record.ts'
import { isThenable } from '../jobs/thenable.ts'
import { Context, type Executed } from './context.ts'
import { wrapped } from './middleware.ts'
import { failureOf, resultOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'

/**
 * Runs the handler of one attempt, with its input, its context and the middleware around it. Never throws and never
 * rejects: what it did is an outcome, before any reason that there was to end it. It is there at once where nothing
 * is waited for, since of a thousand attempts each promise is to be collected.
 */
export function execute(
  parts: WorkerParts,
  definition: AnyJob,
  attempt: Executed,
): Outcome | Promise<Outcome> {
  const { spec } = attempt.job
  if (spec.inputVersion > definition.settings.inputVersion) return misfit(parts, definition, attempt)
  try {
    const input = handlerInput(definition, attempt.job.spec, parts.payloads)
    if (!(input instanceof Promise)) return handle(parts, definition, attempt, input)
    return input.then(
      (made) => handle(parts, definition, attempt, made),
      (error: unknown) => failureOf(error, attempt.job, parts.random),
    )
  } catch (error) {
    return failureOf(error, attempt.job, parts.random)
  }
}

/** In the midst of a roll-out somebody else knows what to do with it, and does not come long after. */
const misfitMs = 10_000

/** A newer release stored it: this one knows nothing of such inputs, and would only spoil the job. Costs it nothing. */
function misfit(parts: WorkerParts, definition: AnyJob, { job }: Executed): Outcome {
  const { id, inputVersion } = job.spec
  const knows = definition.settings.inputVersion
  parts.emit({ type: 'attempt.misfit', job: id, epoch: job.epoch, inputVersion, knows })
  return { kind: 'released', delayMs: misfitMs }
}

function handle(
  parts: WorkerParts,
  definition: AnyJob,
  attempt: Executed,
  input: unknown,
): Outcome | Promise<Outcome> {
  const { spec, epoch } = attempt.job
  const context = new Context(parts, attempt, input as never)
  const handler = (): unknown => definition.run(context)
  try {
    const value = parts.executor.run(
      { id: spec.id, epoch },
      parts.middleware.length === 0 ? handler : () => wrapped(parts.middleware, context, handler),
    )
    if (!isThenable(value)) return finish(parts, context, attempt, value)
    return Promise.resolve(value).then(
      (answer) => finish(parts, context, attempt, answer),
      (error: unknown) => fail(parts, context, attempt, error),
    )
  } catch (error) {
    return fail(parts, context, attempt, error)
  }
}

function finish(
  parts: WorkerParts,
  context: Context,
  attempt: Executed,
  value: unknown,
): Outcome | Promise<Outcome> {
  try {
    const result = resultOf(attempt.job.spec.id, value, parts.payloads)
    if (!(result instanceof Promise)) return succeed(context, result)
    return result.then(
      (stored) => succeed(context, stored),
      (error: unknown) => fail(parts, context, attempt, error),
    )
  } catch (error) {
    return fail(parts, context, attempt, error)
  }
}

function succeed(context: Context, result: string | null): Outcome {
  context.end()
  return { kind: 'succeeded', result }
}

function fail(parts: WorkerParts, context: Context, attempt: Executed, error: unknown): Outcome {
  context.end()
  return failureOf(error, attempt.job, parts.random)
}
