import type { EventOf } from '../engine/history.ts'
import { type DatabaseClock, jump, newClock } from './model/clock.ts'
import { isHarmless } from './model/harmless.ts'
import { span } from './model/when.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: liveness by degrees. A job that is due, beside a worker that is well and has a free slot for it, is
 * claimed within two polls; a fetch loop that waits for a wake that never comes, or backs off without bound,
 * passes every other promise. (Contract 2.12; cases E27.)
 *
 * The wait counts from the latest of: the job was due, by the database's clock; the database was well; nothing
 * was held or paused; no job on its last eviction was about, for which workers keep themselves free; this
 * worker started, woke, met no fault, vouched for its leases; it had the slot.
 *
 * Blind spot: waits that are long and within two polls; and whatever happens while any of those is not so.
 */
interface Waiting {
  readonly queue: string
  readonly kind: string
  /** By the database's clock. */
  readonly dueMs: number
  late: boolean
}

interface Process {
  readonly incarnation: number
  readonly queues: Readonly<Record<string, number>>
  readonly kinds: readonly string[]
  /** It works: started, and not asked to stop. */
  works: boolean
  paused: boolean
  wellAtMs: number
  /** Handlers running, by queue, and since when there is room beside them. */
  readonly running: Map<string, number>
  readonly roomAtMs: Map<string, number>
}

interface Facts {
  readonly queue: string
  readonly kind: string
  readonly backoffMs: readonly number[]
  readonly maxEvictions: number
}

interface State {
  boundMs: number
  readonly clock: DatabaseClock
  down: boolean
  switched: boolean
  /** Since when the database was well, and nothing held. */
  wellAtMs: number
  readonly solo: Set<string>
  readonly facts: Map<string, Facts>
  readonly waiting: Map<string, Waiting>
  /** Before this nobody can have waited for too long: most moves of the watch need not look. */
  lookAtMs: number
  readonly processes: Map<string, Process>
}

export const noStarvation: Property = property({
  name: 'no-starvation',
  kind: 'always',
  says: 'A due job does not wait for more than two polls beside a worker that is well and has a free slot for it.',
  blindSpot: 'Waits within two polls, or beside anything that was not well, are not judged.',
  on: [
    'run.started',
    'database.down',
    'database.up',
    'database.jumped',
    'control.changed',
    'fault.struck',
    'node.started',
    'node.stopping',
    'node.crashed',
    'node.paused',
    'node.resumed',
    'engine.started',
    'claim.unknown',
    'attempt.uncertain',
    'attempt.certain',
    'attempt.lost',
    'handler.began',
    'handler.ended',
    'job.inserted',
    'job.removed',
    'job.claimed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'job.cancelRequested',
    'job.commanded',
    'job.dispatched',
    'watch.moved',
  ],
  suspendedBy: [],
  recalls: ['solo', 'facts', 'waiting'],
  forgets: ['lookAtMs'],
  start: (): State => ({
    boundMs: 0,
    clock: newClock(),
    down: false,
    switched: false,
    wellAtMs: 0,
    solo: new Set(),
    facts: new Map(),
    waiting: new Map(),
    lookAtMs: 0,
    processes: new Map(),
  }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'watch.moved':
        return look(state, event.atMs, verdict)
      case 'job.claimed':
        return claimed(state, event, verdict)
      case 'job.inserted':
        return inserted(state, event)
      case 'job.removed':
        return void state.facts.delete(event.job)
      case 'job.settled':
      case 'job.reclaimed':
      case 'job.timedOut':
      case 'job.takenBack':
      case 'job.commanded':
      case 'job.dispatched':
      case 'job.cancelRequested':
        return moved(state, event)
      case 'run.started':
        state.boundMs = 2 * event.pollMsMax + event.storeCallMs + 2 * event.replyMs
        return
      case 'database.down':
      case 'database.up':
      case 'database.jumped':
      case 'control.changed':
        return around(state, event)
      default:
        return process(state, event)
    }
  },
})

function around(
  state: State,
  event: EventOf<'database.down' | 'database.up' | 'database.jumped' | 'control.changed'>,
): void {
  state.wellAtMs = Math.max(state.wellAtMs, event.atMs)
  if (event.type === 'database.down') state.down = true
  else if (event.type === 'database.up') state.down = false
  else if (event.type === 'database.jumped') jumped(state, event)
  else state.switched = event.hold || event.paused.length > 0
}

/** What was far away may be due by now. */
function jumped(state: State, event: EventOf<'database.jumped'>): void {
  jump(state.clock, event)
  state.lookAtMs = 0
}

type ProcessEvent = EventOf<
  | 'fault.struck'
  | `node.${'started' | 'stopping' | 'crashed' | 'paused' | 'resumed'}`
  | 'engine.started'
  | 'claim.unknown'
  | `attempt.${'uncertain' | 'certain' | 'lost'}`
  | `handler.${'began' | 'ended'}`
>

function process(state: State, event: ProcessEvent): void {
  const { node, incarnation, atMs } = event
  if (event.type === 'node.started') {
    const fresh = { works: false, paused: false, running: new Map(), roomAtMs: new Map() }
    // What still lasts is the machine's, and meets its next process too.
    const wellAtMs = Math.max(atMs, state.processes.get(node)?.wellAtMs ?? 0)
    const { queues, kinds } = event
    state.processes.set(node, { incarnation, queues, kinds, wellAtMs, ...fresh })
    return
  }
  if (event.type === 'fault.struck') {
    if (isHarmless(event.family)) return
    if (node === 'env') return void (state.wellAtMs = Math.max(state.wellAtMs, atMs + event.forMs))
  }
  const known = state.processes.get(node)
  if (known?.incarnation !== incarnation) return
  if (event.type === 'handler.began') return occupy(state, known, event, 1)
  if (event.type === 'handler.ended') return occupy(state, known, event, -1)
  const untilMs = event.type === 'fault.struck' ? atMs + event.forMs : atMs
  known.wellAtMs = Math.max(known.wellAtMs, untilMs)
  if (event.type === 'engine.started') known.works = true
  else if (event.type === 'node.stopping' || event.type === 'node.crashed') known.works = false
  else if (event.type === 'node.paused') known.paused = true
  else if (event.type === 'node.resumed') known.paused = false
}

/** A slot is given back when its handler has returned: from then on there is room. */
function occupy(
  { facts }: State,
  { running, roomAtMs, queues }: Process,
  { job, atMs }: { readonly job: string; readonly atMs: number },
  by: 1 | -1,
): void {
  const queue = facts.get(job)?.queue
  if (queue === undefined) return
  const before = running.get(queue) ?? 0
  running.set(queue, before + by)
  if (by === -1 && before >= (queues[queue] ?? 0)) roomAtMs.set(queue, atMs)
}

function inserted(state: State, event: EventOf<'job.inserted'>): void {
  const { job, queue, kind, backoffMs, maxEvictions, dueMs } = event
  if (state.facts.has(job)) return
  const facts = { queue, kind, backoffMs, maxEvictions }
  state.facts.set(job, facts)
  if (dueMs !== null) wait(state, job, facts, event.atMs, dueMs)
}

function wait(state: State, job: string, { queue, kind }: Facts, atMs: number, delayMs: number): void {
  state.waiting.set(job, { queue, kind, dueMs: atMs + state.clock.aheadMs + delayMs, late: false })
  state.lookAtMs = Math.min(state.lookAtMs, atMs + delayMs + state.boundMs)
}

type Moved =
  EventOf<`job.${'settled' | 'reclaimed' | 'timedOut' | 'takenBack' | 'commanded' | 'dispatched' | 'cancelRequested'}`>

function moved(state: State, event: Moved): void {
  const { job, atMs } = event
  const facts = state.facts.get(job)
  if (!facts) return
  switch (event.type) {
    case 'job.settled':
      if (event.settled !== 'applied' || event.repeated) return leave(state, job, event)
      if (event.state === 'queued') wait(state, job, facts, atMs, event.delayMs)
      return leave(state, job, event)
    case 'job.reclaimed':
      if (event.state === 'queued') wait(state, job, facts, atMs, backoffAt(facts, event.evictions))
      if (event.state === 'queued' && event.evictions >= facts.maxEvictions - 1) state.solo.add(job)
      return leave(state, job, event)
    case 'job.timedOut':
      if (event.state === 'queued') wait(state, job, facts, atMs, backoffAt(facts, event.failures))
      return leave(state, job, event)
    case 'job.takenBack':
      if (event.state === 'queued') wait(state, job, facts, atMs, 0)
      return leave(state, job, event)
    case 'job.commanded':
      // Another retry of a job may come again as a repeat; then it is looked at from the repeat on.
      if (event.applied && state.waiting.has(job)) wait(state, job, facts, atMs, event.delayMs)
      return
    case 'job.dispatched':
      return wait(state, job, facts, atMs, 0)
    case 'job.cancelRequested':
      state.waiting.delete(job)
      return freed(state, job, atMs)
  }
}

/** A job on its last eviction stays one until it ends. */
function leave(
  state: State,
  job: string,
  event: EventOf<`job.${'settled' | 'reclaimed' | 'timedOut' | 'takenBack'}`>,
): void {
  if (event.state !== 'queued' && event.state !== 'running') freed(state, job, event.atMs)
}

function freed(state: State, job: string, atMs: number): void {
  if (state.solo.delete(job)) state.wellAtMs = Math.max(state.wellAtMs, atMs)
}

function claimed(state: State, event: EventOf<'job.claimed'>, verdict: Verdict): void {
  const waiting = state.waiting.get(event.job)
  if (!waiting) return
  judge(state, event.job, waiting, event.atMs, verdict)
  state.waiting.delete(event.job)
}

function look(state: State, atMs: number, verdict: Verdict): void {
  if (atMs <= state.lookAtMs) return
  let soonestMs = Number.POSITIVE_INFINITY
  for (const [job, waiting] of state.waiting) {
    judge(state, job, waiting, atMs, verdict)
    if (!waiting.late) soonestMs = Math.min(soonestMs, dueAtMs(state, waiting))
  }
  state.lookAtMs = soonestMs + state.boundMs
}

/** In true time, and not before all was well. */
function dueAtMs({ wellAtMs, clock }: State, { dueMs }: Waiting): number {
  return Math.max(wellAtMs, dueMs - clock.aheadMs)
}

function judge(state: State, job: string, waiting: Waiting, atMs: number, verdict: Verdict): void {
  const { solo, processes, boundMs } = state
  if (state.down || state.switched || solo.size > 0 || waiting.late) return
  const sinceMs = dueAtMs(state, waiting)
  if (atMs - sinceMs < 0) return
  for (const [node, worker] of processes) {
    if (!hasRoom(worker, waiting)) continue
    const readyMs = Math.max(sinceMs, worker.wellAtMs, worker.roomAtMs.get(waiting.queue) ?? 0)
    if (readyMs > atMs) continue
    verdict.evaluated()
    if (atMs - readyMs <= boundMs) continue
    waiting.late = true
    const message = `job ${job} waited for ${span(atMs - readyMs)} beside ${node}#${worker.incarnation}, which was well and had a free slot`
    return verdict.violated({ kind: 'kept-waiting', subject: job, message })
  }
}

function hasRoom({ works, paused, running, queues, kinds }: Process, { queue, kind }: Waiting): boolean {
  return works && !paused && kinds.includes(kind) && (running.get(queue) ?? 0) < (queues[queue] ?? 0)
}

function backoffAt({ backoffMs }: Facts, n: number): number {
  return backoffMs[Math.min(n, backoffMs.length) - 1] ?? 0
}
