import { AttemptTimeout, HoldfastError, InputInvalid, PermanentFailure, ResultInvalid } from '../errors.ts'
import { backoffAt } from '../jobs/backoff.ts'
import { toJson } from '../jobs/json.ts'
import type { Payloads } from '../jobs/payloads.ts'
import type { JobError, Outcome } from '../jobs/record.ts'
import { isA, storableText, textOf } from '../jobs/text.ts'
import type { Random } from '../ports/random.ts'
import type { ClaimedJob } from '../ports/store.ts'

/**
 * What the handler of a job returned, as it is stored; at once where the codec answers at once. Throws
 * `ResultInvalid` for a value that JSON cannot say or that is over a mebibyte, and what the codec throws.
 */
export function resultOf(
  id: string,
  value: unknown,
  payloads: Payloads,
): string | null | Promise<string | null> {
  const json = jsonOf(value)
  if (json === null) return null
  const stored = payloads.stored(`the result of job ${id}`, json)
  return stored instanceof Promise ? stored.then(ofSize) : ofSize(stored)
}

const resultBytesMax = 1_048_576

/** The size that counts is what is stored, as with inputs. */
function ofSize(stored: string): string {
  // Three bytes a unit is the most that UTF-8 takes.
  if (stored.length * 3 <= resultBytesMax) return stored
  const sizeBytes = Buffer.byteLength(stored)
  if (sizeBytes <= resultBytesMax) return stored
  throw new ResultInvalid(
    `the handler's result is ${sizeBytes} bytes, over the limit of ${resultBytesMax}; store the data elsewhere and return a reference`,
  )
}

function jsonOf(value: unknown): string | null {
  try {
    return toJson(value)
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
  const error = sayingOf(thrown)
  const stack = stackOf(thrown)
  return stack === null ? error : { ...error, stack }
}

function sayingOf(thrown: unknown): JobError {
  try {
    if (isA(HoldfastError, thrown)) {
      return { code: storableText(textOf(thrown.code)), message: storableText(textOf(thrown.message)) }
    }
  } catch {
    // A subclass of theirs that throws when it is read is any other error.
  }
  return { code: 'HANDLER_ERROR', message: storableText(textOf(thrown)) }
}

/** Null where it says no more than the message does. The reasons to end are made by the engine: theirs tells nothing. */
function stackOf(thrown: unknown): string | null {
  try {
    const { stack } = thrown as { readonly stack?: unknown }
    if (typeof stack !== 'string' || stack === textOf(thrown) || isA(AttemptTimeout, thrown)) return null
    return storableText(stack)
  } catch {
    return null
  }
}
