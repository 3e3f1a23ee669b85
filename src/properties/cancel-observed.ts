import type { EventOf } from '../engine/history.ts'
import { isDatabaseWell, isUntouched } from './model/health.ts'
import { type Holds, holdEvents, isHolder, noteHold } from './model/holds.ts'
import { type Retries, startsAnew } from './model/retries.ts'
import { instant } from './model/when.ts'
import { type Who, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: an operator who cancels wants it to stop. Once the store has taken the cancel, nobody claims the job,
 * it never goes back to its queue, and its holder's signal fires with the first heartbeat that can tell it.
 * Only a retry takes it back. (Contract 6.1 - 6.5.)
 *
 * A heartbeat can tell it if the renewal landed after the cancel and the start of the handler and was not on its way
 * for long, and neither the worker nor the database met a mishap around it; the verdict falls with the one after it.
 *
 * Blind spot: a handler that is told, and does not heed it.
 */
interface Asked {
  /** When a renewal of the holder first landed after the cancel, and could have told it. */
  renewedAtMs: number | null
  told: boolean
}

/** A renewal that its sender had given up may land so long after it was sent; nobody hears its answer. */
const lateMsMax = 60_000

interface State {
  readonly world: World
  /** When a renewal of a node, or of any (`env`), was last sent to arrive late. */
  readonly lateAtMs: Map<string, number>
  readonly holds: Holds
  readonly retries: Retries
  readonly asked: Map<string, Asked>
  /** Epochs whose handler has been started: before, nobody is there to be told. */
  readonly started: Map<string, number>
  /** Epochs whose handler has had a signal, of whatever reason: there is one for each attempt. */
  readonly signalled: Map<string, number>
  /** Epochs whose handler was told of a cancel first of all. */
  readonly ended: Map<string, number>
}

export const cancelObserved: Property = property({
  name: 'cancel-observed',
  kind: 'always',
  says: 'A job whose end was asked for is neither claimed nor queued again, and its holder is told by a heartbeat.',
  blindSpot: 'Whether a handler heeds its signal is not asked.',
  on: [
    ...worldEvents,
    ...holdEvents,
    'job.cancelRequested',
    'job.commanded',
    'lease.renewed',
    'attempt.started',
    'handler.signalled',
    'attempt.ended',
    'database.restored',
  ],
  suspendedBy: [],
  recalls: ['holds', 'retries', 'asked'],
  needs: ['operator'],
  after: ['job.cancelRequested'],
  start: (): State => ({
    world: newWorld(),
    lateAtMs: new Map(),
    holds: new Map(),
    retries: new Map(),
    asked: new Map(),
    started: new Map(),
    signalled: new Map(),
    ended: new Map(),
  }),
  step(state, event, verdict) {
    const { asked, holds } = state
    switch (event.type) {
      case 'job.cancelRequested':
        if (!asked.has(event.job)) asked.set(event.job, { renewedAtMs: null, told: false })
        return
      case 'job.commanded':
        if (startsAnew(state.retries, event)) asked.delete(event.job)
        return
      case 'job.claimed':
      case 'job.settled':
      case 'job.reclaimed':
      case 'job.timedOut':
      case 'job.takenBack':
        noteHold(holds, event)
        if (event.type === 'job.settled') charged(state, event, verdict)
        if (asked.has(event.job)) moved(event, verdict)
        return
      case 'job.removed':
        for (const of of [asked, holds, state.started, state.signalled, state.ended]) of.delete(event.job)
        return
      case 'database.restored':
        // Its holder may have heard of it, and be done with the job.
        for (const cancel of asked.values()) cancel.told = true
        return
      case 'lease.renewed':
        return renewed(state, event, verdict)
      case 'attempt.started':
        return void state.started.set(event.job, event.epoch)
      case 'handler.signalled':
        state.signalled.set(event.job, event.epoch)
        if (event.code === 'CANCELLED') state.ended.set(event.job, event.epoch)
        return told(state, event, verdict)
      case 'attempt.ended':
        return told(state, event, verdict)
      case 'fault.struck':
        if (arrivesLate(event)) state.lateAtMs.set(event.node, event.atMs)
        return note(state.world, event)
      default:
        note(state.world, event)
    }
  },
})

type Move = EventOf<'job.claimed' | 'job.settled' | 'job.reclaimed' | 'job.timedOut' | 'job.takenBack'>

function moved(event: Move, verdict: Verdict): void {
  if (event.type === 'job.settled' && event.settled !== 'applied') return
  verdict.evaluated()
  const { job, type, epoch } = event
  const claimed = event.type === 'job.claimed'
  if (!claimed && event.state !== 'queued') return
  const kind = claimed ? 'claimed-after-cancel' : 'queued-after-cancel'
  const message = `${type} of job ${job} at epoch ${epoch}, after its end was asked for`
  verdict.violated({ kind, subject: job, message })
}

/** What a handler does because it was told of a cancel is no failure; its timeout, or what the store refuses, is. */
function charged({ ended }: State, event: EventOf<'job.settled'>, verdict: Verdict): void {
  const { job, epoch, outcome, error, settled } = event
  if (settled !== 'applied' || ended.get(job) !== epoch) return
  verdict.evaluated()
  if (outcome !== 'failed' || error === 'TIMEOUT' || error === 'RESULT_INVALID') return
  const message = `job ${job} was charged a failure at epoch ${epoch}, whose handler had been told of a cancel`
  verdict.violated({ kind: 'charged-by-cancel', subject: job, message })
}

function arrivesLate({ family, call }: EventOf<'fault.struck'>): boolean {
  return call === 'claims.renew' && (family === 'late-request' || family === 'partition')
}

function mayBeLate({ lateAtMs }: State, { node, atMs }: EventOf<'lease.renewed'>): boolean {
  return [node, 'env'].some((whose) => atMs - (lateAtMs.get(whose) ?? -Infinity) <= lateMsMax)
}

function told(
  { asked, holds }: State,
  event: Who & { readonly job: string; readonly epoch: number },
  verdict: Verdict,
): void {
  const cancel = asked.get(event.job)
  if (!cancel || cancel.told || holds.get(event.job)?.epoch !== event.epoch) return
  cancel.told = true
  verdict.evaluated()
}

function renewed(state: State, event: EventOf<'lease.renewed'>, verdict: Verdict): void {
  const { world, holds, asked, started, signalled } = state
  const { job, epoch, atMs } = event
  const cancel = asked.get(job)
  if (!cancel || cancel.told || !isHolder(holds.get(job), event)) return
  if (started.get(job) !== epoch || signalled.get(job) === epoch) return
  const sinceMs = (cancel.renewedAtMs ?? atMs) - world.storeCallMs
  const well = isUntouched(world, event, sinceMs) && isDatabaseWell(world, sinceMs)
  if (cancel.renewedAtMs === null || !well || mayBeLate(state, event)) return void (cancel.renewedAtMs = atMs)
  if (atMs - cancel.renewedAtMs < world.replyMs) return
  cancel.told = true
  verdict.evaluated()
  const message = `${nameOf(event)} renewed job ${job} at ${instant(cancel.renewedAtMs)} and again at ${instant(atMs)}, and its handler was not told of the cancel`
  verdict.violated({ kind: 'cancel-unheard', subject: job, message })
}
