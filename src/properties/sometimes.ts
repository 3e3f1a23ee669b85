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
  readonly after?: readonly HistoryType[]
  readonly when?: (event: EventOf<On>) => boolean
  /** Counts from this occurrence on; default 1. */
  readonly from?: number
  /** Counts only what comes with another value than the last one did. */
  readonly changes?: (event: EventOf<On>) => string
}

function sometimes<On extends HistoryType>({
  when,
  changes,
  from = 1,
  on,
  ...rest
}: Situation<On>): Property {
  return property({
    ...rest,
    kind: 'sometimes',
    on: [on],
    suspendedBy: [],
    start: () => ({ seen: 0, last: null as string | null }),
    step(state, event, verdict) {
      if (when && !when(event)) return
      if (changes) {
        const before = state.last
        state.last = changes(event)
        if (before === null || before === state.last) return
      }
      if (state.seen < from) state.seen += 1
      if (state.seen === from) verdict.evaluated()
    },
  })
}

export const sometimesProperties: readonly Property[] = [
  sometimes({
    name: 'slot-contested',
    says: 'An engine came to fire a slot that another had fired before it.',
    blindSpot: 'Also met where the schedule was changed, paused or removed meanwhile.',
    on: 'schedule.fired',
    after: ['schedule.fired'],
    when: ({ outcome }) => outcome === 'lost',
  }),
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
    name: 'cancelled-while-running',
    says: 'A handler was told that its job is cancelled, and the job ended so.',
    blindSpot: 'Does not say whether the handler heeded its signal, or failed by itself.',
    on: 'job.settled',
    needs: ['operator'],
    after: ['job.cancelRequested'],
    when: ({ settled, outcome }) => settled === 'applied' && outcome === 'cancelled',
  }),
  sometimes({
    name: 'retried-by-operator',
    says: 'An operator started a job anew that had failed or was cancelled.',
    blindSpot: 'Does not say what became of it.',
    on: 'job.commanded',
    needs: ['operator'],
    when: ({ command, applied }) => command === 'retry' && applied,
  }),
  sometimes({
    name: 'replay-failed-again',
    says: 'A job that replayed a dead letter failed for good, and was replayed in turn.',
    blindSpot: 'Does not say whether it succeeded in the end.',
    on: 'job.replayed',
    needs: ['dead-letters'],
    when: ({ applied, lineage }) => applied && (lineage?.replays ?? 0) > 1,
  }),
  sometimes({
    name: 'replay-met-another',
    says: 'Somebody replayed a dead letter that another had replayed, and was told as what.',
    blindSpot: 'Does not say whether the two came at once.',
    on: 'replay.refused',
    needs: ['dead-letters'],
    when: ({ why }) => why === 'already',
  }),
  sometimes({
    name: 'lost-replay-sent-again',
    says: 'The reply to a replay was lost, and the same call, sent again, found that it had applied.',
    blindSpot: 'Does not say whether the new job had gone on meanwhile.',
    on: 'job.replayed',
    needs: ['dead-letters'],
    when: ({ applied }) => !applied,
  }),
  sometimes({
    name: 'fleet-held',
    says: 'An operator held the whole fleet.',
    blindSpot: 'Does not say whether there was anything to claim meanwhile.',
    on: 'control.changed',
    needs: ['operator'],
    when: ({ hold }) => hold,
  }),
  sometimes({
    name: 'resumed-from-checkpoint',
    says: 'A later attempt read what an earlier one had kept.',
    blindSpot: 'Does not say what it made of it.',
    on: 'job.recalled',
    after: ['job.noted'],
    when: ({ entries }) => entries.length > 0,
  }),
  sometimes({
    name: 'late-note-refused',
    says: 'An attempt that was superseded, or over, tried to write, and was refused.',
    blindSpot: 'Does not say whether another attempt ran meanwhile.',
    on: 'job.noted',
    needs: ['pause', 'blocked-loop', 'handler-ignores-signal'],
    after: ['job.noted'],
    when: ({ applied }) => !applied,
  }),
  sometimes({
    name: 'attempt-timed-out',
    says: 'A handler was told that its time is over.',
    blindSpot: 'Does not say whether it heeded that.',
    on: 'handler.signalled',
    needs: ['handler-hangs', 'handler-ignores-signal'],
    when: ({ code }) => code === 'TIMEOUT',
  }),
  sometimes({
    name: 'attempt-abandoned',
    says: 'An attempt was settled without its handler, which ran on.',
    blindSpot: 'Does not say when the handler returned.',
    on: 'attempt.abandoned',
    needs: ['handler-ignores-signal'],
  }),
  sometimes({
    name: 'timed-out-by-sweep',
    says: 'A worker did not end an attempt at its timeout, and a sweep did.',
    blindSpot: 'Does not say why the worker did not.',
    on: 'job.timedOut',
    needs: ['timers'],
    after: ['job.timedOut'],
  }),
  sometimes({
    name: 'exclusive-work-lost',
    says: "A process learned that the named lease of its work might be somebody else's.",
    blindSpot: 'Does not say whether anybody else had it.',
    on: 'exclusive.lost',
    needs: ['pause', 'outage-long', 'stall', 'refused-connection', 'blocked-loop'],
    after: ['named.acquired'],
  }),
  sometimes({
    name: 'exclusive-work-refused',
    says: 'A process found that another is at the exclusive work.',
    blindSpot: 'Also met when the other is dead, and its lease not over yet.',
    on: 'named.refused',
    after: ['named.acquired'],
  }),
  sometimes({
    name: 'stall-noticed',
    says: 'A process that had stood still noticed it.',
    blindSpot: 'Also met where timers are late, and the event loop was free.',
    on: 'loop.stalled',
    needs: ['pause', 'blocked-loop', 'pause-on-call', 'timers'],
  }),
  sometimes({
    name: 'leadership-changed-hands',
    says: 'Another process than the last one was elected.',
    blindSpot: 'Does not say whether the last one had stepped down, died or lost its lease.',
    on: 'leader.elected',
    after: ['leader.elected'],
    changes: ({ node, incarnation }) => `${node}#${incarnation}`,
  }),
  sometimes({
    name: 'leadership-lost',
    says: "A leader learned that its lease may be another's, while its work went on.",
    blindSpot: 'Does not say whether another had been elected by then.',
    on: 'leader.lost',
    needs: ['pause', 'outage-long', 'stall', 'refused-connection', 'blocked-loop'],
    after: ['leader.elected'],
  }),
  sometimes({
    name: 'late-lines-refused',
    says: 'Lines of an attempt that was over, or whose job was taken over, were refused.',
    blindSpot: 'Does not say whether the handler still ran.',
    on: 'log.appended',
    after: ['log.appended'],
    when: ({ applied }) => !applied,
  }),
  sometimes({
    name: 'log-trimmed',
    says: 'A job said more than its log keeps.',
    blindSpot: 'Does not say when the first lines were dropped.',
    on: 'log.final',
    after: ['log.appended'],
    when: ({ next, ns }) => next > ns.length,
  }),
  sometimes({
    name: 'failure-told',
    says: 'Who waited for a result was told that there is none.',
    blindSpot: 'Does not say whether the job failed in this process.',
    on: 'result.told',
    after: ['result.awaited'],
    when: ({ how }) => how === 'failed' || how === 'cancelled',
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
