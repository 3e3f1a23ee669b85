import { HoldfastError, InputInvalid, PermanentFailure, ResultInvalid } from '../errors.ts'
import { backoffAt } from '../jobs/backoff.ts'
import { toJson } from '../jobs/json.ts'
import type { JobError, Outcome } from '../jobs/record.ts'
import { storableText } from '../jobs/text.ts'
import type { Random } from '../ports/random.ts'
import type { ClaimedJob } from '../ports/store.ts'

/** What a handler returned, as an outcome. Throws `ResultInvalid` for a value that JSON cannot say. */
export function successOf(value: unknown): Outcome {
  try {
    return { kind: 'succeeded', result: toJson(value) }
  } catch (error) {
    throw new ResultInvalid(`the handler's result has no JSON form: ${String(error)}`, { cause: error })
  }
}

/** What a handler threw (any value), as an outcome with the delay before the next attempt. */
export function failureOf(thrown: unknown, job: ClaimedJob, random: Random): Outcome {
  const delayMs = backoffAt(job.spec.backoffMs, job.failures + 1)
  return {
    kind: 'failed',
    error: errorOf(thrown),
    permanent: isPermanent(thrown),
    delayMs: job.spec.jitter ? Math.floor(random.unit('jitter') * delayMs) : delayMs,
  }
}

function isPermanent(thrown: unknown): boolean {
  return (
    thrown instanceof PermanentFailure || thrown instanceof InputInvalid || thrown instanceof ResultInvalid
  )
}

function errorOf(thrown: unknown): JobError {
  if (thrown instanceof HoldfastError) return { code: thrown.code, message: storableText(thrown.message) }
  return { code: 'HANDLER_ERROR', message: storableText(textOf(thrown)) }
}

/** A thrown value may be anything, and may itself throw when it is read. */
function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    return 'a value that cannot be printed was thrown'
  }
}
