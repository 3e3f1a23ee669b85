import type { EventOf } from '../engine/history.ts'
import { span } from './model/when.ts'
import { type Property, property } from './property.ts'

/**
 * Why: while all dead letters are replayed, what they need may still be broken. Whoever replays what has failed again
 * meanwhile goes round in a circle, and wakes the dead for as long as it lasts. (E22.)
 *
 * Blind spot: it knows of no call but those that the simulated operators make, through a process that replays nothing
 * else meanwhile; and what died between the beginning of such a call and its first look is not judged.
 */
/** Of each process through which all are being replayed: when it first looked at them; null before that. */
type State = Map<string, number | null>

export const replayAllEnds: Property = property({
  name: 'replay-all-ends',
  kind: 'always',
  says: 'Replaying all dead letters replays none that died after it had begun.',
  blindSpot: 'What died between its beginning and its first look is not judged.',
  on: ['replay-all.began', 'replay-all.ended', 'dead.listed', 'job.replayed'],
  // How long a job has been dead is said by the database.
  suspendedBy: ['clock-jump'],
  needs: ['dead-letters'],
  after: ['replay-all.began'],
  start: (): State => new Map(),
  step(state, event, verdict) {
    const who = whoOf(event)
    switch (event.type) {
      case 'replay-all.began':
        state.set(who, null)
        return
      case 'replay-all.ended':
        state.delete(who)
        return
      case 'dead.listed':
        if (state.get(who) === null) state.set(who, event.atMs)
        return
      case 'job.replayed': {
        const lookedAtMs = state.get(who) ?? null
        if (lookedAtMs === null || event.deadForMs === null) return
        verdict.evaluated()
        const diedAtMs = event.atMs - event.deadForMs
        if (diedAtMs <= lookedAtMs) return
        const message = `job ${event.job} died ${span(diedAtMs - lookedAtMs)} after all dead letters began to be replayed, and was replayed with them`
        verdict.violated({ kind: 'went-round', subject: event.job, message })
      }
    }
  },
})

function whoOf({ node, incarnation }: EventOf<'job.replayed'> | EventOf<'dead.listed'> | Began): string {
  return `${node}#${incarnation}`
}
type Began = EventOf<'replay-all.began' | 'replay-all.ended'>
