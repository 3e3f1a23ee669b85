import type { EventOf } from '../engine/history.ts'
import { driftMs, isPunctual } from './model/health.ts'
import { span } from './model/when.ts'
import { type Who, isSame, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a handler that never ends keeps its slot, and its job, for ever. The worker signals it at its timeout,
 * settles without it `abandonMs` later, and charges a failure either way; the sweep is only the backstop.
 * (Contract 0.6.)
 *
 * Lateness is asked of workers alone whose event loop and timers were well since the start; earliness also. A
 * clock that runs fast or slow by 1 % may be wrong about a timeout by as much.
 *
 * Blind spot: an attempt that was asked to end before, for another reason, shows no signal of its timeout.
 */
interface Running extends Who {
  readonly epoch: number
  readonly startedAtMs: number
  readonly timeoutMs: number
  signalled: boolean
}

interface State {
  readonly world: World
  abandonMs: number
  readonly timeouts: Map<string, number>
  readonly claimedAtMs: Map<string, number>
  readonly running: Map<string, Running>
  /** Epochs that were told of their timeout. */
  readonly committing: Map<string, number>
  readonly timedOut: Map<string, number>
}

export const timeoutEnforced: Property = property({
  name: 'timeout-enforced',
  kind: 'always',
  says: 'An attempt is asked to end at its timeout, is over soon after, and is charged a failure.',
  blindSpot: 'An attempt that was asked to end before, for another reason, shows no signal of its timeout.',
  on: [
    ...worldEvents,
    'job.inserted',
    'job.claimed',
    'attempt.started',
    'handler.signalled',
    'attempt.ended',
    'attempt.committing',
    'attempt.lost',
    'job.settled',
    'job.timedOut',
    'run.ended',
  ],
  suspendedBy: [],
  recalls: ['timeouts', 'claimedAtMs'],
  after: ['handler.signalled'],
  start: (): State => ({
    world: newWorld(),
    abandonMs: 0,
    timeouts: new Map(),
    claimedAtMs: new Map(),
    running: new Map(),
    committing: new Map(),
    timedOut: new Map(),
  }),
  step(state, event, verdict) {
    const { world, timeouts, running } = state
    switch (event.type) {
      case 'job.inserted':
        if (!timeouts.has(event.job)) timeouts.set(event.job, event.timeoutMs)
        return
      case 'job.claimed':
        return void state.claimedAtMs.set(event.job, event.atMs)
      case 'attempt.started': {
        const { job, epoch, node, incarnation, atMs } = event
        const timeoutMs = timeouts.get(job)
        if (timeoutMs === undefined) return
        return void running.set(job, {
          epoch,
          node,
          incarnation,
          startedAtMs: atMs,
          timeoutMs,
          signalled: false,
        })
      }
      case 'handler.signalled':
        return signalled(state, event, verdict)
      case 'attempt.ended':
        return ended(state, event, verdict)
      case 'attempt.committing':
        if (runningOf(state, event)) running.delete(event.job)
        return void state.committing.set(event.job, event.epoch)
      case 'attempt.lost':
        if (runningOf(state, event)) running.delete(event.job)
        return
      case 'job.settled':
        return settled(state, event, verdict)
      case 'job.timedOut':
        return backstop(state, event, verdict)
      case 'run.ended':
        for (const [job, attempt] of running) judgeEnd(state, job, attempt, event.atMs, verdict)
        return
      default:
        if (event.type === 'run.started') state.abandonMs = event.abandonMs
        note(world, event)
    }
  },
})

function signalled(state: State, event: EventOf<'handler.signalled'>, verdict: Verdict): void {
  const attempt = runningOf(state, event)
  if (!attempt) return
  attempt.signalled = true
  if (event.code !== 'TIMEOUT') return
  const { job, epoch, atMs } = event
  state.timedOut.set(job, epoch)
  verdict.evaluated()
  const offMs = atMs - attempt.startedAtMs - attempt.timeoutMs
  const { startedAtMs, timeoutMs } = attempt
  if (Math.abs(offMs) <= driftMs(state.world, attempt, startedAtMs, timeoutMs)) return
  if (!isPunctual(state.world, attempt, attempt.startedAtMs)) return
  const message = `the handler of job ${job} was told of its timeout ${span(Math.abs(offMs))} ${offMs < 0 ? 'before' : 'after'} it`
  verdict.violated({ kind: offMs < 0 ? 'timed-out-early' : 'timed-out-late', subject: job, message })
}

function ended(state: State, event: EventOf<'attempt.ended'>, verdict: Verdict): void {
  const attempt = runningOf(state, event)
  if (!attempt) return
  state.running.delete(event.job)
  judgeEnd(state, event.job, attempt, event.atMs, verdict)
}

function judgeEnd(state: State, job: string, attempt: Running, atMs: number, verdict: Verdict): void {
  const boundMs = attempt.timeoutMs + state.abandonMs
  const overMs =
    atMs -
    attempt.startedAtMs -
    attempt.timeoutMs -
    driftMs(state.world, attempt, attempt.startedAtMs, boundMs)
  if (overMs <= 0 || !isPunctual(state.world, attempt, attempt.startedAtMs)) return
  verdict.evaluated()
  if (attempt.signalled && overMs <= state.abandonMs) return
  const kind = attempt.signalled ? 'not-abandoned' : 'timeout-not-told'
  const message = `${nameOf(attempt)} ran job ${job} for ${span(overMs)} over its timeout of ${span(attempt.timeoutMs)}${attempt.signalled ? '' : ', and did not tell it'}`
  verdict.violated({ kind, subject: job, message })
}

function settled(state: State, event: EventOf<'job.settled'>, verdict: Verdict): void {
  const { job, epoch, outcome } = event
  if (event.settled !== 'applied' || state.timedOut.get(job) !== epoch) return
  // What is on its way when the time is over is not called back: the first that is committed wins.
  if (state.committing.get(job) === epoch) return
  verdict.evaluated()
  if (outcome === 'failed') return
  const message = `an attempt of job ${job} that ran out of time at epoch ${epoch} was settled as ${outcome}`
  verdict.violated({ kind: 'timeout-not-charged', subject: job, message })
}

function backstop(state: State, event: EventOf<'job.timedOut'>, verdict: Verdict): void {
  const { job, atMs } = event
  state.running.delete(job)
  const claimedAtMs = state.claimedAtMs.get(job)
  const timeoutMs = state.timeouts.get(job)
  if (claimedAtMs === undefined || timeoutMs === undefined) return
  verdict.evaluated()
  if (atMs - claimedAtMs >= timeoutMs) return
  const message = `job ${job} was timed out by a sweep ${span(atMs - claimedAtMs)} after its claim; it has ${span(timeoutMs)}`
  verdict.violated({ kind: 'timed-out-early', subject: job, message })
}

function runningOf(
  { running }: State,
  event: Who & { readonly job: string; readonly epoch: number },
): Running | null {
  const attempt = running.get(event.job)
  return attempt && attempt.epoch === event.epoch && isSame(attempt, event) ? attempt : null
}
