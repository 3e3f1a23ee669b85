import { CodecFailed, PermanentFailure } from '../errors.ts'
import type { Codec } from '../ports/codec.ts'
import type { JobRecord } from './record.ts'
import { isA } from './text.ts'
import { isThenable } from './thenable.ts'

/**
 * Payloads on their way to and from the store. What a codec throws may quote what it was given, so its words are
 * never passed on; they are the `cause` of the error.
 */
export interface Payloads {
  /** Whether the same value may be stored as different texts. */
  readonly coded: boolean
  /** `what` names it in errors. Throws `CodecFailed`, or the `PermanentFailure` that the codec threw. */
  stored(what: string, json: string): string | Promise<string>
  plain(what: string, stored: string): string | Promise<string>
  /** The value that is stored. */
  value(what: string, stored: string): unknown
}

const asTheyAre: Payloads = {
  coded: false,
  stored: (_what, json) => json,
  plain: (_what, stored) => stored,
  value: (_what, stored) => JSON.parse(stored) as unknown,
}

export function payloadsOf(codec: Codec | undefined): Payloads {
  if (!codec) return asTheyAre
  const plain = (what: string, stored: string): Promise<string> =>
    tried(`the codec could not decode ${what}`, async () => text(await codec.decode(stored)))
  return {
    coded: true,
    stored: (what, json) => encoded(codec, `the codec could not encode ${what}`, json),
    plain,
    value: async (what, stored) => {
      const json = await plain(what, stored)
      return tried(`what the codec made of ${what} is no JSON`, async () => JSON.parse(json) as unknown)
    },
  }
}

/** The job with its payloads as the producer and the handler know them. */
export async function plainRecord(payloads: Payloads, job: JobRecord): Promise<JobRecord> {
  if (!payloads.coded) return job
  const { spec, result } = job
  return {
    ...job,
    spec: { ...spec, input: await payloads.plain(`the input of job ${spec.id}`, spec.input) },
    result: result === null ? null : await payloads.plain(`the result of job ${spec.id}`, result),
  }
}

/** At once where the codec answers at once: a transaction may have to. */
function encoded(codec: Codec, message: string, json: string): string | Promise<string> {
  try {
    const answer: unknown = codec.encode(json)
    if (!isThenable(answer)) return storable(text(answer))
    return tried(message, async () => storable(text(await answer)))
  } catch (error) {
    throw blamed(message, error)
  }
}

async function tried<R>(message: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (error) {
    throw blamed(message, error)
  }
}

function blamed(message: string, error: unknown): unknown {
  return isA(PermanentFailure, error) ? error : new CodecFailed(message, { cause: error })
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError(`a codec answers a string, not a ${typeof value}`)
}

function storable(value: string): string {
  if (value.isWellFormed() && !value.includes('\0')) return value
  throw new TypeError('what a codec answers must be well-formed, and without NUL; encode bytes as base64')
}
