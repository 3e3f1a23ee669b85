import type { EventOf } from '../engine/history.ts'
import { isDatabaseWell, isUntouched } from './model/health.ts'
import { type Process, type Processes, noteProcess, processEvents, processOf } from './model/processes.ts'
import { instant, span } from './model/when.ts'
import { nameOf } from './model/who.ts'
import { type World, newWorld, note, worldEvents } from './model/world.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: whoever operates a fleet acts on what engines say of themselves. One that says `ok` while its store is
 * away hides an outage; one that says `degraded` for ever is taken out of service for nothing; figures that
 * drift are no figures. (Issue 4: health tells the truth; contract 9.4.)
 *
 * An engine says what the world knows: its phase; that the store failed it, from the failure on, and at the end
 * of an outage that every process must have met (a sweep and a store call); that all is well again, within two
 * store calls and a sweep. It counts the handlers that run, and the claims and the doubts about them, within
 * what has been told and not yet heard.
 *
 * Blind spot: what it says between two looks; and how long ago the store last answered.
 */
interface State {
  readonly world: World
  readonly processes: Processes
  /** The outage that ended last. */
  outage: { readonly fromMs: number; readonly toMs: number } | null
}

export const healthTruth: Property = property({
  name: 'health-truth',
  kind: 'always',
  says: 'An engine says that it is degraded when its store fails it or a lease is in doubt, that it is ok soon after all is well, and counts right.',
  blindSpot: 'What an engine says between two looks at it is not seen.',
  on: [
    ...worldEvents,
    ...processEvents.filter((type) => type !== 'node.started' && type !== 'engine.stopped'),
    'node.health',
  ],
  suspendedBy: [],
  start: (): State => ({ world: newWorld(), processes: new Map(), outage: null }),
  step(state, event, verdict) {
    const { world, processes } = state
    switch (event.type) {
      case 'node.health':
        return judge(state, event, verdict)
      case 'node.started':
      case 'engine.stopped':
        noteProcess(processes, event)
        return note(world, event)
      case 'database.up':
        if (world.downAtMs !== null) state.outage = { fromMs: world.downAtMs, toMs: event.atMs }
        return note(world, event)
      case 'run.started':
      case 'fault.struck':
      case 'node.crashed':
      case 'node.paused':
      case 'node.resumed':
      case 'database.down':
      case 'database.jumped':
        return note(world, event)
      default:
        noteProcess(processes, event)
    }
  },
})

type Says = (kind: string, what: string) => void

function judge(state: State, event: EventOf<'node.health'>, verdict: Verdict): void {
  const process = processOf(state.processes, event)
  if (!process) return
  // Of one that never had any work it is too easy.
  if (process.everHeld) verdict.evaluated()
  const says: Says = (kind, what) => {
    if (process.slips.has(kind)) return
    process.slips.add(kind)
    verdict.violated({ kind, subject: event.node, message: `${nameOf(event)} says that ${what}` })
  }
  const { phase, everRan } = process
  const { status, reachable, uncertain } = event
  if (phase !== 'running') {
    const fits = status === phase || (phase === 'stopping' && !everRan && status === 'stopped')
    if (!fits) says('wrong-phase', `it is ${status}, and it is ${phase}`)
    return
  }
  if (status !== (reachable && uncertain === 0 ? 'ok' : 'degraded')) {
    const why = `${reachable ? 'its store answers' : 'its store does not answer'}, ${uncertain} leases are in doubt`
    says('status-disagrees', `it is ${status}, when ${why}`)
  }
  judgeStore(state, process, event, says)
  judgeCounts(process, event, says)
}

function judgeStore(
  { world, outage }: State,
  process: Process,
  { reachable, uncertain, atMs }: EventOf<'node.health'>,
  says: Says,
): void {
  const { storeCallMs, sweepMs, replyMs } = world
  if (reachable && process.failedAtMs === atMs)
    says('failure-hidden', 'its store answers, when a call of it has just failed')
  if (reachable && outage?.toMs === atMs && isUntouched(world, process, outage.fromMs)) {
    const forMs = atMs - outage.fromMs
    if (forMs > sweepMs + storeCallMs + replyMs)
      says('outage-hidden', `its store answers, at the end of ${span(forMs)} of an outage`)
  }
  const sinceMs = atMs - 2 * storeCallMs - sweepMs
  if (sinceMs < 0 || !isUntouched(world, process, sinceMs) || !isDatabaseWell(world, sinceMs)) return
  if (!reachable)
    says('recovery-hidden', `its store does not answer, which was well since ${instant(sinceMs)}`)
  if (uncertain > 0)
    says('doubt-without-end', `${uncertain} leases are in doubt, when all was well since ${instant(sinceMs)}`)
}

function judgeCounts({ handlers, held }: Process, event: EventOf<'node.health'>, says: Says): void {
  const { running, slotsUsed, claims, uncertain } = event
  const counts = { waiting: 0, doubts: 0, doubtsMax: 0 }
  const tokens = new Set<string>()
  const tokensMax = new Set<string>()
  for (const attempt of held.values()) {
    tokensMax.add(attempt.token)
    if (!attempt.started) counts.waiting += 1
    else if (!attempt.ended) tokens.add(attempt.token)
    if (attempt.uncertain) counts.doubtsMax += 1
    if (attempt.uncertain && !attempt.ended) counts.doubts += 1
  }
  const { waiting, doubts, doubtsMax } = counts
  if (running < handlers || running > handlers + waiting)
    says('running-miscounted', `it runs ${running} jobs, when ${handlers} handlers run`)
  if (slotsUsed !== running)
    says('slots-miscounted', `it uses ${slotsUsed} slots, when it runs ${running} jobs`)
  // One more claim may be on its way, or not known yet.
  if (claims < tokens.size || claims > tokensMax.size + 1)
    says('claims-miscounted', `it has ${claims} claims, when it has ${tokens.size} to ${tokensMax.size}`)
  if (uncertain < doubts || uncertain > doubtsMax + waiting)
    says('doubts-miscounted', `${uncertain} leases are in doubt, when ${doubts} to ${doubtsMax} are`)
}
