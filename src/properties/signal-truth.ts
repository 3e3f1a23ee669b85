import type { EventOf } from '../engine/history.ts'
import { nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a handler whose job was taken over must learn it, or it goes on to do outside what another does too.
 * One whose lease is merely uncertain runs on, because an outage must cost no live job anything, unless its
 * definition asked to be ended then. (Contract 0.21, 3.7.)
 *
 * Blind spot: a handler that is told, and does not heed it.
 */
interface Running {
  readonly abortsUncertain: boolean
  signalled: boolean
  /** It must be told of this before it ends. */
  owed: 'loss-untold' | 'uncertainty-untold' | null
}

/** By process, job and epoch. */
type State = Map<string, Running>

export const signalTruth: Property = property({
  name: 'signal-truth',
  kind: 'always',
  says: 'A handler that lost its job is told; one whose lease is uncertain is ended if it asked for that, and only then.',
  blindSpot: 'Whether a handler that is told heeds it is not asked.',
  on: ['handler.began', 'handler.signalled', 'handler.ended', 'attempt.lost', 'attempt.uncertain'],
  suspendedBy: [],
  needs: ['pause', 'blocked-loop', 'outage-long', 'stall', 'refused-connection', 'pause-on-call'],
  after: ['attempt.lost', 'attempt.uncertain'],
  start: (): State => new Map(),
  step(handlers, event, verdict) {
    const key = keyOf(event)
    if (event.type === 'handler.began') {
      const { abortsUncertain } = event
      handlers.set(key, { abortsUncertain, signalled: false, owed: null })
      return
    }
    const running = handlers.get(key)
    if (!running) return
    switch (event.type) {
      case 'handler.signalled':
        return signalled(running, event, verdict)
      case 'attempt.lost':
        verdict.evaluated()
        if (!running.signalled) running.owed = 'loss-untold'
        return
      case 'attempt.uncertain':
        verdict.evaluated()
        if (!running.signalled && running.abortsUncertain) running.owed = 'uncertainty-untold'
        return
      case 'handler.ended':
        handlers.delete(key)
        return ended(running, event, verdict)
    }
  },
})

function signalled(running: Running, event: EventOf<'handler.signalled'>, verdict: Verdict): void {
  running.signalled = true
  running.owed = null
  if (event.code !== 'LEASE_UNCERTAIN') return
  verdict.evaluated()
  if (running.abortsUncertain) return
  const message = `${nameOf(event)} ended the handler of job ${event.job} because its lease was uncertain, which its definition did not ask for`
  verdict.violated({ kind: 'aborted-unasked', subject: event.job, message })
}

function ended({ owed }: Running, event: EventOf<'handler.ended'>, verdict: Verdict): void {
  if (owed === null) return
  const what = owed === 'loss-untold' ? 'job was taken over' : 'lease was uncertain'
  const message = `the handler of job ${event.job} at epoch ${event.epoch} on ${nameOf(event)} ended, and was never told that its ${what}`
  verdict.violated({ kind: owed, subject: event.job, message })
}

function keyOf(event: {
  readonly node: string
  readonly incarnation: number
  readonly job: string
  readonly epoch: number
}): string {
  return `${event.node}#${event.incarnation} ${event.epoch} ${event.job}`
}
