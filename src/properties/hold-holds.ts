import { type Property, property } from './property.ts'

/**
 * Why: who holds the fleet, or pauses a queue, does so because something must not run now. The switches act
 * in the claim itself, so that there is no moment in which they are only on their way. (Contract 0.12.)
 *
 * Blind spot: what runs already goes on, and is not looked at.
 */
interface State {
  hold: boolean
  paused: readonly string[]
  readonly queues: Map<string, string>
}

export const holdHolds: Property = property({
  name: 'hold-holds',
  kind: 'always',
  says: 'Nothing is claimed while the fleet is held, and nothing of a queue while it is paused.',
  blindSpot: 'What ran before the switch goes on, and is not looked at.',
  on: ['job.inserted', 'job.claimed', 'control.changed'],
  suspendedBy: [],
  needs: ['operator', 'database-restored'],
  after: ['control.changed'],
  start: (): State => ({ hold: false, paused: [], queues: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'job.inserted':
        if (!state.queues.has(event.job)) state.queues.set(event.job, event.queue)
        return
      case 'control.changed':
        // The time that is over now was one in which it mattered.
        if (state.hold || state.paused.length > 0) verdict.evaluated()
        state.hold = event.hold
        state.paused = event.paused
        return
      case 'job.claimed': {
        const queue = state.queues.get(event.job) ?? ''
        const paused = state.paused.includes(queue)
        if (!state.hold && !paused) return
        verdict.evaluated()
        const kind = state.hold ? 'claimed-while-held' : 'claimed-while-paused'
        const message = `${event.node} claimed job ${event.job} of queue ${queue}, while ${state.hold ? 'everything was held' : 'that queue was paused'}`
        return verdict.violated({ kind, subject: event.job, message })
      }
    }
  },
})
