import type { EventOf } from '../engine/history.ts'
import { isSame, nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a worker that was taken for dead may wake up at any time. Whatever it then says about its old epoch
 * must change nothing, and a holder that never lost its lease must not be refused. (Contract 0.13, 0.15.)
 *
 * Blind spot: it judges settles and renewals. A write that went around both, into the row itself, shows
 * only in its consequences.
 */
interface Hold {
  epoch: number
  node: string
  incarnation: number
  running: boolean
  /** The last settle that applied: what a repeat of it may be confirmed by. */
  done: { epoch: number; outcome: string; node: string; incarnation: number } | null
  /** Another job had the id before. */
  former: boolean
}

type State = Map<string, Hold>

export const fencing: Property = property({
  name: 'fencing',
  kind: 'always',
  says: 'Only the holder of the current epoch settles or renews a running job, and it is never refused.',
  blindSpot: 'Writes to a job that are neither a settle nor a renewal are not seen.',
  on: [
    'job.claimed',
    'lease.renewed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'job.removed',
  ],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => new Map(),
  step(holds, event, verdict) {
    const hold = holds.get(event.job) ?? unheld(holds, event.job)
    switch (event.type) {
      case 'job.claimed':
        hold.epoch = event.epoch
        hold.node = event.node
        hold.incarnation = event.incarnation
        hold.running = true
        return
      case 'job.reclaimed':
      case 'job.timedOut':
      case 'job.takenBack':
        hold.epoch = event.epoch
        hold.running = false
        return
      case 'job.removed':
        hold.former = true
        hold.done = null
        return
      case 'lease.renewed':
        return renewed(hold, event, verdict)
      case 'job.settled':
        return settled(hold, event, verdict)
    }
  },
})

function renewed(hold: Hold, event: EventOf<'lease.renewed'>, verdict: Verdict): void {
  verdict.evaluated()
  if (isHolder(hold, event)) return
  const message = `${nameOf(event)} renewed the lease of job ${event.job} at epoch ${event.epoch}; ${said(hold)}`
  verdict.violated({ kind: 'unheld-lease-renewed', subject: event.job, message })
}

function settled(hold: Hold, event: EventOf<'job.settled'>, verdict: Verdict): void {
  verdict.evaluated()
  const { job, epoch, outcome, node, incarnation } = event
  const holder = isHolder(hold, event)
  if (event.settled !== 'applied') {
    judgeRefusal(event, verdict)
    // It may be that of the job which had the id before.
    if (!holder || (hold.former && event.state === null)) return
    const message = `${nameOf(event)} held job ${job} at epoch ${epoch}, but its settle was answered ${event.settled}`
    verdict.violated({ kind: 'holder-refused', subject: job, message })
    return
  }
  if (!holder && event.repeated && isOwnRepeat(hold, event)) return
  if (!holder) {
    const message = `a settle of job ${job} by ${nameOf(event)} at epoch ${epoch} applied; ${said(hold)}`
    verdict.violated({ kind: 'unfenced-settle', subject: job, message })
  }
  hold.running = false
  hold.done = { epoch, outcome, node, incarnation }
}

/** Of a repeat nobody knows whether its first send applied; of a first send one does (contract 0.15). */
function judgeRefusal({ job, settled, repeated, state }: EventOf<'job.settled'>, verdict: Verdict): void {
  if (state === null || (settled === 'superseded') === repeated) return
  const message = `a ${repeated ? 'repeated' : 'first'} settle of job ${job} was answered ${settled}`
  verdict.violated({ kind: 'other-refusal', subject: job, message })
}

function isHolder(hold: Hold, event: EventOf<'lease.renewed' | 'job.settled'>): boolean {
  return hold.running && hold.epoch === event.epoch && isSame(hold, event)
}

function isOwnRepeat({ done }: Hold, event: EventOf<'job.settled'>): boolean {
  return done !== null && done.epoch === event.epoch && done.outcome === event.outcome && isSame(done, event)
}

function said(hold: Hold): string {
  if (hold.running) return `${nameOf(hold)} holds epoch ${hold.epoch}`
  return `nobody holds it since epoch ${hold.epoch}`
}

function unheld(holds: State, job: string): Hold {
  const hold: Hold = { epoch: 0, node: '', incarnation: 0, running: false, done: null, former: false }
  holds.set(job, hold)
  return hold
}
