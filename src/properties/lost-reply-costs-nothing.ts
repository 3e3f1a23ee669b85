import { type LostClaims, claimEvents, newLostClaims, stepClaims } from './lost-reply/claim.ts'
import { type LostSettles, newLostSettles, settleEvents, stepSettles } from './lost-reply/settle.ts'
import { worldEvents } from './model/world.ts'
import { type Property, property } from './property.ts'

/**
 * Why: a claim that committed though its answer was lost is held by a worker that does not know it. Left
 * alone it costs an eviction and a whole TTL; recovered by its token it costs nothing. A settle whose
 * answer was lost must be recognised as one's own. (Contract 0.10, 0.15.)
 *
 * Exempt: a worker that died or was paused since its claim, or was cut off. Cut off means a second mishap
 * since its lease last landed: the margin of contract 0.3 pays for one lost renewal or one outage at a
 * time. Only calls that renew count; a fault that is no lost message (`call` null) always exempts.
 *
 * Blind spot: a worker that met a second mishap before its claim was recovered is not judged.
 */
interface State {
  readonly claims: LostClaims
  readonly settles: LostSettles
}

export const lostReplyCostsNothing: Property = property({
  name: 'lost-reply-costs-nothing',
  kind: 'always',
  says: "Jobs of a claim whose answer was lost start in that very claim, and a settle is known for one's own.",
  blindSpot: 'A worker that met a second mishap before its claim was recovered is not judged.',
  on: [...worldEvents, ...claimEvents, ...settleEvents, 'job.removed', 'job.takenBack', 'database.restored'],
  suspendedBy: [],
  needs: ['lost-request', 'lost-reply'],
  start: (): State => ({ claims: newLostClaims(), settles: newLostSettles() }),
  step({ claims, settles }, event, verdict) {
    switch (event.type) {
      case 'run.started':
      case 'fault.struck':
      case 'job.claimed':
      case 'job.settled':
      case 'job.reclaimed':
      case 'job.timedOut':
        stepSettles(settles, claims.world, event, verdict)
        return stepClaims(claims, event, verdict)
      case 'database.restored':
        // What it had answered before is undone.
        for (const of of [claims.waiting, settles.unheard, settles.unsettled]) of.clear()
        return
      case 'job.takenBack':
        for (const of of [claims.waiting, settles.unsettled]) of.delete(event.job)
        return
      case 'job.removed':
        // Whoever repeats his settle then is told that there is no such job.
        settles.unheard.delete(event.job)
        settles.unsettled.delete(event.job)
        return
      case 'attempt.ended':
      case 'attempt.confirmed':
        return stepSettles(settles, claims.world, event, verdict)
      default:
        stepClaims(claims, event, verdict)
    }
  },
})
