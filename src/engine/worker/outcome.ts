import { HoldfastError, InputInvalid, PermanentFailure, ResultInvalid } from '../errors.ts'
import { backoffAt } from '../jobs/backoff.ts'
import { toJson } from '../jobs/json.ts'
import type { JobError, Outcome } from '../jobs/record.ts'
import { storableText, textOf } from '../jobs/text.ts'
import type { Random } from '../ports/random.ts'
import type { ClaimedJob } from '../ports/store.ts'

/** What a handler returned, as an outcome. Throws `ResultInvalid` for a value that JSON cannot say. */
export function successOf(value: unknown): Outcome {
  try {
    return { kind: 'succeeded', result: toJson(value) }
  } catch (error) {
    throw new ResultInvalid(`the handler's result has no JSON form: ${textOf(error)}`, { cause: error })
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
  return isA(PermanentFailure, thrown) || isA(InputInvalid, thrown) || isA(ResultInvalid, thrown)
}

function errorOf(thrown: unknown): JobError {
  try {
    if (isA(HoldfastError, thrown)) {
      return { code: storableText(textOf(thrown.code)), message: storableText(textOf(thrown.message)) }
    }
  } catch {
    // A subclass of theirs that throws when it is read is any other error.
  }
  return { code: 'HANDLER_ERROR', message: storableText(textOf(thrown)) }
}

/** `instanceof`, of any value: a revoked proxy throws when it is asked for its prototype. */
function isA<T>(type: abstract new (...args: never[]) => T, thrown: unknown): thrown is T {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}
