import type { EventOf } from '../engine/history.ts'
import { isDatabaseWell, isUntouched } from './model/health.ts'
import { type Holds, holdEvents, noteHold } from './model/holds.ts'
import { span } from './model/when.ts'
import { type Who, nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a deploy is not a failure. A worker that is asked to stop takes nothing more, lets its handlers end or
 * asks them to, and gives back what they did not finish, uncharged. Whoever leaves jobs to their leases makes
 * every deploy cost a whole TTL and an eviction. And an engine that has stopped is still: its host may live on.
 * (Contract 0.4, 5.11, 27.26; cases E07, E26.)
 *
 * Exempt: a handler that outran its own timeout (a timeout goes before a shutdown) or returned what the store refuses,
 * and what is left behind or
 * claimed by a worker that a fault touched while it stopped, or while the database met a mishap.
 *
 * Blind spot: how long a stop takes is not asked.
 */
interface Stopping extends Who {
  readonly atMs: number
}

interface State {
  readonly world: World
  readonly holds: Holds
  readonly timeoutMs: Map<string, number>
  readonly stopping: Map<string, Stopping>
  /** `atMs`: since then its engine is to do nothing. */
  readonly stopped: Map<string, Stopping>
  readonly startedAtMs: Map<string, number>
  /** Epochs whose handler was asked to end because its engine stops. */
  readonly interrupted: Map<string, number>
}

export const shutdownCostsNothing: Property = property({
  name: 'shutdown-costs-nothing',
  kind: 'always',
  says: 'A worker that stops claims nothing more, charges nothing for it, leaves no job to its lease, and is still then.',
  blindSpot: 'How long a stop takes is not asked.',
  on: [
    ...worldEvents,
    ...holdEvents,
    'job.inserted',
    'node.stopping',
    'attempt.started',
    'handler.signalled',
    'watch.moved',
  ],
  suspendedBy: [],
  forgets: ['holds'],
  needs: ['shutdown'],
  after: ['node.stopping'],
  start: (): State => ({
    world: newWorld(),
    holds: new Map(),
    timeoutMs: new Map(),
    stopping: new Map(),
    stopped: new Map(),
    startedAtMs: new Map(),
    interrupted: new Map(),
  }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'job.inserted':
        if (!state.timeoutMs.has(event.job)) state.timeoutMs.set(event.job, event.timeoutMs)
        return
      case 'node.stopping': {
        const { node, incarnation, atMs } = event
        return void state.stopping.set(node, { node, incarnation, atMs })
      }
      case 'attempt.started':
        return void state.startedAtMs.set(event.job, event.atMs)
      case 'handler.signalled':
        if (event.code === 'ENGINE_STOPPING') state.interrupted.set(event.job, event.epoch)
        return
      case 'job.claimed':
        noteHold(state.holds, event)
        return claimed(state, event, verdict)
      case 'job.settled':
        noteHold(state.holds, event)
        return settled(state, event, verdict)
      case 'job.reclaimed':
      case 'job.timedOut':
      case 'job.takenBack':
        return noteHold(state.holds, event)
      case 'job.removed':
        for (const of of [state.timeoutMs, state.startedAtMs, state.interrupted]) of.delete(event.job)
        return noteHold(state.holds, event)
      case 'watch.moved':
        return afterwards(state, event, verdict)
      case 'engine.stopped':
        stopped(state, event, verdict)
        return note(state.world, event)
      case 'fault.struck':
        // The stop itself is no mishap.
        if (event.family !== 'shutdown') note(state.world, event)
        return
      default:
        note(state.world, event)
    }
  },
})

/**
 * What was on its way then lands within the bound of a call; a move that was held up for longer is refused, or begins
 * the watch anew where the clock of the database went back meanwhile.
 */
function afterwards({ world, stopped }: State, event: EventOf<'watch.moved'>, verdict: Verdict): void {
  const stop = stopped.get(event.node)
  if (stop?.incarnation !== event.incarnation || event.kind !== 'moved') return
  if (event.atMs - stop.atMs <= world.storeCallMs) return
  verdict.evaluated()
  const message = `${nameOf(event)} moved the watch ${span(event.atMs - stop.atMs)} after its engine had stopped`
  verdict.violated({ kind: 'works-after-its-stop', subject: event.node, message })
}

/** A claim that was on its way at that moment lands within the time of a healthy call. */
function claimed(state: State, event: EventOf<'job.claimed'>, verdict: Verdict): void {
  const { world } = state
  const stop = stopOf(state, event)
  if (!stop || event.atMs - stop.atMs <= world.replyMs || !wasWell(world, stop)) return
  verdict.evaluated()
  const message = `${nameOf(event)} claimed job ${event.job} ${span(event.atMs - stop.atMs)} after it was asked to stop`
  verdict.violated({ kind: 'claimed-while-stopping', subject: event.job, message })
}

function settled(state: State, event: EventOf<'job.settled'>, verdict: Verdict): void {
  const { job, epoch, outcome, error, atMs } = event
  if (event.settled !== 'applied' || state.interrupted.get(job) !== epoch) return
  verdict.evaluated()
  const timedOut = atMs >= (state.startedAtMs.get(job) ?? 0) + (state.timeoutMs.get(job) ?? 0)
  if (outcome !== 'failed' || timedOut || error === 'RESULT_INVALID') return
  const message = `job ${job} was charged a failure at epoch ${epoch}: its handler ended because ${nameOf(event)} stopped`
  verdict.violated({ kind: 'charged-by-shutdown', subject: job, message })
}

function stopped(state: State, event: EventOf<'engine.stopped'>, verdict: Verdict): void {
  const stop = stopOf(state, event)
  if (!stop) return
  state.stopping.delete(event.node)
  state.stopped.set(event.node, { ...stop, atMs: event.atMs })
  if (!wasWell(state.world, stop)) return
  verdict.evaluated()
  for (const [job, hold] of state.holds) {
    if (!hold.running || hold.node !== event.node || hold.incarnation !== event.incarnation) continue
    const message = `${nameOf(event)} stopped, and left job ${job} at epoch ${hold.epoch} to its lease`
    verdict.violated({ kind: 'left-behind', subject: job, message })
  }
}

function stopOf({ stopping }: State, { node, incarnation }: Who): Stopping | null {
  const stop = stopping.get(node)
  return stop?.incarnation === incarnation ? stop : null
}

function wasWell(world: World, stop: Stopping): boolean {
  const sinceMs = stop.atMs - 2 * world.storeCallMs
  return isUntouched(world, stop, sinceMs) && isDatabaseWell(world, sinceMs)
}
