import type { EventOf, HistoryType } from '../engine/history.ts'
import { type Property, property } from './property.ts'

/**
 * Why: an invariant that was never put to the test proves nothing. Each entry names a situation that the
 * faults are there to bring about; a campaign of runs that never reached it says so.
 *
 * Blind spot of all of them: that a thing happened says nothing about how well it was handled. That is the
 * business of the invariants.
 */
interface Situation<On extends HistoryType> {
  readonly name: string
  readonly says: string
  readonly blindSpot: string
  readonly on: On
  readonly needs?: readonly string[]
  readonly when?: (event: EventOf<On>) => boolean
  /** Counts from this occurrence on; default 1. */
  readonly from?: number
}

function sometimes<On extends HistoryType>({ when, from = 1, on, ...rest }: Situation<On>): Property {
  return property({
    ...rest,
    kind: 'sometimes',
    on: [on],
    suspendedBy: [],
    start: () => ({ seen: 0 }),
    step(state, event, verdict) {
      if (when && !when(event)) return
      if (state.seen < from) state.seen += 1
      if (state.seen === from) verdict.evaluated()
    },
  })
}

export const sometimesProperties: readonly Property[] = [
  sometimes({
    name: 'claim-reply-recovered',
    says: 'A claim whose reply was lost was found again with its jobs.',
    blindSpot: 'Also met when the claim was unknown for another reason than a lost reply.',
    on: 'claim.recovered',
  }),
  sometimes({
    name: 'unknown-claim-voided',
    says: 'A claim of unknown outcome turned out never to have landed, and was made void.',
    blindSpot: 'Does not say whether the claim was still on its way.',
    on: 'claim.voided',
  }),
  sometimes({
    name: 'late-claim-refused',
    says: 'A claim that arrived after it had been made void took nothing.',
    blindSpot: 'Also met when a token came twice for another reason.',
    on: 'claim.refused',
    needs: ['late-request'],
  }),
  sometimes({
    name: 'late-watch-move-refused',
    says: 'A move of the outage watch that arrived too late was refused.',
    blindSpot: 'Does not say what the move would have hidden.',
    on: 'watch.moved',
    needs: ['late-request'],
    when: ({ kind }) => kind === 'refused',
  }),
  sometimes({
    name: 'released-at-shutdown',
    says: 'A worker that was stopped gave a job back uncharged.',
    blindSpot: 'Also met when a lease was uncertain and the definition asks to abort then.',
    on: 'job.settled',
    needs: ['shutdown'],
    when: ({ settled, outcome }) => settled === 'applied' && outcome === 'released',
  }),
  sometimes({
    name: 'settle-repeat-confirmed',
    says: 'A repeated settle was answered applied.',
    blindSpot: 'Also met when the first send never landed and the repeat was the first to apply.',
    on: 'job.settled',
    when: ({ settled, repeated }) => settled === 'applied' && repeated,
  }),
  sometimes({
    name: 'zombie-settle-refused',
    says: 'A worker that had lost its job tried to settle it, and was refused.',
    blindSpot: 'Does not say whether the worker knew by then that the job was lost.',
    on: 'job.settled',
    when: ({ settled }) => settled === 'lost',
  }),
  sometimes({
    name: 'grace-held-reclaim-back',
    says: 'A lease had lapsed, and the outage watch kept it from being taken.',
    blindSpot: 'Does not say whether the holder was alive, hence whether grace saved anything.',
    on: 'reclaim.heldBack',
  }),
  sometimes({
    name: 'dead-worker-reclaimed',
    says: 'A job was taken back from a worker that had fallen silent.',
    blindSpot: 'Does not say whether that worker was dead, asleep or cut off.',
    on: 'job.reclaimed',
  }),
  sometimes({
    name: 'lease-became-uncertain',
    says: 'A worker could no longer vouch for a lease of its own.',
    blindSpot: 'Does not say whether the lease was in fact still held.',
    on: 'attempt.uncertain',
  }),
  sometimes({
    name: 'lease-became-certain-again',
    says: 'A lease that had become uncertain was found still held.',
    blindSpot: 'Does not say how long it was uncertain.',
    on: 'attempt.certain',
  }),
  sometimes({
    name: 'attempt-lost',
    says: 'A worker learned that a job it was running had been taken over.',
    blindSpot: 'Does not say whether its handler heeded the signal.',
    on: 'attempt.lost',
  }),
  sometimes({
    name: 'retry-happened',
    says: 'A job that had failed before was claimed again.',
    blindSpot: 'Does not say whether the retry came after its backoff.',
    on: 'job.claimed',
    when: ({ failures }) => failures > 0,
  }),
  sometimes({
    name: 'dead-lettered-by-failures',
    says: 'A job spent its attempts, and was dead-lettered.',
    blindSpot: 'Leaves out what fails for good at once, and what the timeout backstop ends.',
    on: 'job.settled',
    when: ({ settled, outcome, permanent, state }) =>
      settled === 'applied' && outcome === 'failed' && !permanent && state === 'failed',
  }),
  sometimes({
    name: 'dead-lettered-by-evictions',
    says: 'A job lost its lease once too often, and was dead-lettered.',
    blindSpot: 'Does not say whether the job was to blame.',
    on: 'job.reclaimed',
    when: ({ state }) => state === 'failed',
  }),
  sometimes({
    name: 'watch-restarted',
    says: 'The outage watch noticed a gap, and began anew.',
    blindSpot: 'Does not say what the gap was. The first move of a run, which begins it, does not count.',
    on: 'watch.moved',
    when: ({ kind }) => kind === 'restarted',
    from: 2,
  }),
]
