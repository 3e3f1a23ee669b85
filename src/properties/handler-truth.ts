import type { EventOf } from '../engine/history.ts'
import { type Retries, startsAnew } from './model/retries.ts'
import { type Who, isSame } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: between the producer and the handler, and between the handler and the store, the engine is a
 * messenger. A handler gets the input that was enqueued; what it returns is the result, what it throws is a
 * failure, and for good only if it says so. (Contract 0.4, 0.23.)
 *
 * Once its signal fired, the engine may overrule a failure (released, cancelled, timed out), never a result.
 *
 * An attempt is one call of each middleware in its order and of the handler, under a fencing token of its own.
 *
 * Blind spot: values are compared as digests of 32 bits, and of errors only their codes.
 */
interface End extends Who {
  readonly epoch: number
  readonly how: EventOf<'handler.ended'>['how']
  readonly permanent: boolean
  readonly result: number
  readonly error: string | null
}

interface Fence {
  readonly epoch: number
  readonly fence: string
}

interface State {
  readonly inputs: Map<string, number>
  readonly ends: Map<string, End>
  readonly signalled: Map<string, number>
  /** Attempts whose handler commits: one that comes to nothing is given back, whatever the handler does then. */
  readonly committing: Map<string, number>
  /** What handlers answered in the transactions that settled their attempts. */
  readonly effects: Map<string, { readonly epoch: number; readonly result: number }>
  /** Of jobs that succeeded. */
  readonly results: Map<string, number>
  /** Codes, of what went wrong with each job last. */
  readonly errors: Map<string, string | null>
  readonly retries: Retries
  readonly fences: Map<string, Fence>
  /** The last of a job that was removed: none of one that comes by its id is that again. */
  readonly former: Map<string, string>
  /** The last epoch of each job that was settled: a repeat says again what is past. */
  readonly settled: Map<string, number>
}

export const handlerTruth: Property = property({
  name: 'handler-truth',
  kind: 'always',
  says: 'A handler gets the input that was enqueued, and what it returned or threw is what is settled and stored.',
  blindSpot: 'Values are compared as digests of 32 bits, and of errors only their codes.',
  on: [
    'job.inserted',
    'handler.began',
    'handler.signalled',
    'handler.ended',
    'settle.refused',
    'attempt.committing',
    'effect.committed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.commanded',
    'job.removed',
    'job.final',
  ],
  suspendedBy: [],
  recalls: ['inputs', 'effects', 'results', 'errors', 'settled'],
  start: (): State => ({
    inputs: new Map(),
    ends: new Map(),
    signalled: new Map(),
    results: new Map(),
    errors: new Map(),
    retries: new Map(),
    fences: new Map(),
    former: new Map(),
    settled: new Map(),
    committing: new Map(),
    effects: new Map(),
  }),
  step(state, event, verdict) {
    const { inputs, ends, signalled, errors } = state
    switch (event.type) {
      case 'job.inserted':
        if (!inputs.has(event.job)) inputs.set(event.job, event.input)
        return
      case 'handler.began':
        return began(state, event, verdict)
      case 'handler.signalled':
        // One that was taken for dead may hear of it only now.
        if ((signalled.get(event.job) ?? 0) <= event.epoch) signalled.set(event.job, event.epoch)
        return
      case 'handler.ended': {
        const { job, epoch, how, permanent, result, error, node, incarnation } = event
        judgeCalls(event, verdict)
        if ((ends.get(job)?.epoch ?? 0) <= epoch)
          ends.set(job, { epoch, how, permanent, result, error, node, incarnation })
        return
      }
      case 'settle.refused': {
        // What cannot be stored fails for good, as what has no JSON form.
        const end = ends.get(event.job)
        const invalid = { how: 'neither', permanent: true, error: 'RESULT_INVALID' } as const
        if (end?.epoch === event.epoch) ends.set(event.job, { ...end, ...invalid })
        return
      }
      case 'job.reclaimed':
        return void errors.set(event.job, 'LEASE_LOST')
      case 'job.timedOut':
        return void errors.set(event.job, 'TIMEOUT')
      case 'job.commanded':
        if (startsAnew(state.retries, event)) errors.set(event.job, null)
        return
      case 'attempt.committing':
        return void state.committing.set(event.job, event.epoch)
      case 'effect.committed':
        return void state.effects.set(event.job, { epoch: event.epoch, result: event.result })
      case 'job.settled':
        return settled(state, event, verdict)
      case 'job.removed':
        return forget(state, event.job)
      case 'job.final':
        return final(state, event, verdict)
    }
  },
})

function forget(state: State, job: string): void {
  const { inputs, ends, signalled, committing, effects, results, errors, fences, settled } = state
  const last = fences.get(job)?.fence
  if (last !== undefined) state.former.set(job, last)
  for (const of of [inputs, ends, signalled, committing, effects, results, errors, fences, settled]) {
    of.delete(job)
  }
}

/** All middleware in its order, then the handler, once each. */
function judgeCalls({ job, epoch, calls }: EventOf<'handler.ended'>, verdict: Verdict): void {
  verdict.evaluated()
  if (calls === 'oih') return
  const message = `of job ${job} at epoch ${epoch} there ran ${calls}, which was to be oih: outer and inner middleware, handler`
  verdict.violated({ kind: 'other-calls', subject: job, message })
}

/** Rises with each attempt, as text, and names its epoch and attempt. */
function judgeFence({ fences, former }: State, event: EventOf<'handler.began'>, verdict: Verdict): void {
  const { job, epoch, fence } = event
  const before = fences.get(job) ?? { epoch: 0, fence: '' }
  const [named] = fence.split(':').slice(-2)
  if (before.epoch < epoch) fences.set(job, { epoch, fence })
  // One that was taken for dead may begin late: then its token is the lower one.
  const rises = before.epoch < epoch ? before.fence < fence : before.epoch > epoch && before.fence > fence
  if (Number(named) === epoch && rises && former.get(job) !== fence) return
  const message = `the handler of job ${job} at epoch ${epoch} got the fencing token ${fence}, after ${before.fence || former.get(job)}`
  verdict.violated({ kind: 'other-fence', subject: job, message })
}

function final({ results, errors }: State, event: EventOf<'job.final'>, verdict: Verdict): void {
  const { job, state, result, error } = event
  verdict.evaluated()
  if (state === 'succeeded' && results.get(job) !== result) {
    const message = `the result of job ${job} in the store is not the one that was settled`
    verdict.violated({ kind: 'stored-otherwise', subject: job, message })
  }
  const told = errors.get(job) ?? null
  if (error === told) return
  const message = `the error of job ${job} in the store is ${error}, and what went wrong last was ${told}`
  verdict.violated({ kind: 'error-forgotten', subject: job, message })
}

function began(state: State, event: EventOf<'handler.began'>, verdict: Verdict): void {
  judgeFence(state, event, verdict)
  const { job, epoch, input } = event
  const enqueued = state.inputs.get(job)
  if (enqueued === undefined || input === 0) return
  verdict.evaluated()
  if (input === enqueued) return
  const message = `the handler of job ${job} at epoch ${epoch} got another input than was enqueued`
  verdict.violated({ kind: 'other-input', subject: job, message })
}

function settled(state: State, event: EventOf<'job.settled'>, verdict: Verdict): void {
  const { job, epoch, outcome, result } = event
  if (event.settled !== 'applied') return
  const end = state.ends.get(job)
  const before = state.settled.get(job) ?? 0
  if (before <= epoch) {
    if (outcome === 'succeeded') state.results.set(job, result)
    if (before < epoch && (outcome === 'succeeded' || outcome === 'failed'))
      state.errors.set(job, event.error)
    state.settled.set(job, epoch)
  }
  if (end && end.epoch > epoch) return
  const own = end?.epoch === epoch && isSame(end, event) ? end : null
  const kind = committedSlip(state, event) ?? slipOf(own, event, state.signalled.get(job) === epoch)
  verdict.evaluated()
  if (kind === null || kind === 'none') return
  const ended = own === null ? 'had not ended' : `had ended (${own.how}${own.permanent ? ', for good' : ''})`
  const message = `job ${job} was settled as ${outcome}${event.permanent ? ' for good' : ''} at epoch ${epoch}; its handler ${ended}`
  verdict.violated({ kind, subject: job, message })
}

/** Of a settlement that a commit brought about; null if it is none. */
function committedSlip(
  { committing, effects }: State,
  { job, epoch, outcome, result }: EventOf<'job.settled'>,
): 'none' | 'other-result' | null {
  const effect = effects.get(job)
  if (effect?.epoch === epoch) return effect.result === result ? 'none' : 'other-result'
  return outcome === 'released' && committing.get(job) === epoch ? 'none' : null
}

/** Null where the settle says what the handler said. */
function slipOf(
  own: End | null,
  { outcome, permanent, result, error, repeated, state }: EventOf<'job.settled'>,
  signalled: boolean,
): string | null {
  if (outcome === 'succeeded') {
    if (own === null) return 'success-without-an-end'
    if (own.how !== 'returned') return 'error-taken-for-success'
    if (!repeated && state !== 'succeeded') return 'result-thrown-away'
    return own.result === result ? null : 'other-result'
  }
  if (signalled || own === null) return null
  if (outcome !== 'failed') return 'given-back-unasked'
  if (own.how === 'returned') return 'success-taken-for-error'
  if (own.permanent !== permanent) return 'permanence-changed'
  return own.error === error ? null : 'other-error'
}
