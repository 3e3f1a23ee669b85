import type { EventOf } from '../engine/history.ts'
import { type Who, isSame } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: between the producer and the handler, and between the handler and the store, the engine is a
 * messenger. A handler gets the input that was enqueued; what it returns is the result, what it throws is a
 * failure, and for good only if it says so. (Contract 0.4, 0.23.)
 *
 * Once its signal fired, the engine may overrule a failure (released, cancelled, timed out), never a result.
 *
 * Blind spot: values are compared as digests of 32 bits, and what an error says is not compared at all.
 */
interface End extends Who {
  readonly epoch: number
  readonly how: EventOf<'handler.ended'>['how']
  readonly permanent: boolean
  readonly result: number
}

interface State {
  readonly inputs: Map<string, number>
  readonly ends: Map<string, End>
  readonly signalled: Map<string, number>
  /** Of jobs that succeeded. */
  readonly results: Map<string, number>
}

export const handlerTruth: Property = property({
  name: 'handler-truth',
  kind: 'always',
  says: 'A handler gets the input that was enqueued, and what it returned or threw is what is settled and stored.',
  blindSpot: 'Values are compared as digests of 32 bits, and what an error says is not compared.',
  on: [
    'job.inserted',
    'handler.began',
    'handler.signalled',
    'handler.ended',
    'job.settled',
    'job.commanded',
    'job.final',
  ],
  suspendedBy: [],
  start: (): State => ({ inputs: new Map(), ends: new Map(), signalled: new Map(), results: new Map() }),
  step(state, event, verdict) {
    const { inputs, ends, signalled, results } = state
    switch (event.type) {
      case 'job.inserted':
        if (!inputs.has(event.job)) inputs.set(event.job, event.input)
        return
      case 'handler.began':
        return began(inputs, event, verdict)
      case 'handler.signalled':
        return void signalled.set(event.job, event.epoch)
      case 'handler.ended': {
        const { job, epoch, how, permanent, result, node, incarnation } = event
        if ((ends.get(job)?.epoch ?? 0) <= epoch)
          ends.set(job, { epoch, how, permanent, result, node, incarnation })
        return
      }
      case 'job.settled':
        return settled(state, event, verdict)
      case 'job.final': {
        if (event.state !== 'succeeded') return
        verdict.evaluated()
        if (results.get(event.job) === event.result) return
        const message = `the result of job ${event.job} in the store is not the one that was settled`
        return verdict.violated({ kind: 'stored-otherwise', subject: event.job, message })
      }
    }
  },
})

function began(
  inputs: State['inputs'],
  { job, epoch, input }: EventOf<'handler.began'>,
  verdict: Verdict,
): void {
  const enqueued = inputs.get(job)
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
  if (end && end.epoch > epoch) return
  const own = end?.epoch === epoch && isSame(end, event) ? end : null
  if (outcome === 'succeeded') state.results.set(job, result)
  const kind = slipOf(own, event, state.signalled.get(job) === epoch)
  verdict.evaluated()
  if (kind === null) return
  const ended = own === null ? 'had not ended' : `had ended (${own.how}${own.permanent ? ', for good' : ''})`
  const message = `job ${job} was settled as ${outcome}${event.permanent ? ' for good' : ''} at epoch ${epoch}; its handler ${ended}`
  verdict.violated({ kind, subject: job, message })
}

/** Null where the settle says what the handler said. */
function slipOf(
  own: End | null,
  { outcome, permanent, result }: EventOf<'job.settled'>,
  signalled: boolean,
): string | null {
  if (outcome === 'succeeded') {
    if (own === null) return 'success-without-an-end'
    if (own.how !== 'returned') return 'error-taken-for-success'
    return own.result === result ? null : 'other-result'
  }
  if (signalled || own === null) return null
  if (outcome !== 'failed') return 'given-back-unasked'
  if (own.how === 'returned') return 'success-taken-for-error'
  return own.permanent === permanent ? null : 'permanence-changed'
}
