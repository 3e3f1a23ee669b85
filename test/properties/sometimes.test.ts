import { describe, expect, test } from 'vitest'
import { sometimesProperties } from '../../src/properties/index.ts'
import {
  appended,
  attempt,
  cancelAsked,
  claimed,
  commanded,
  type Draft,
  judge,
  finalLog,
  noted,
  recalled,
  replayed,
  reclaimed,
  recovered,
  said,
  settled,
  signalled,
  switched,
  timedOut,
  voided,
  watch,
  unreplayed,
} from './dsl.ts'

const job = { job: 'a', epoch: 1 }
const lease = { key: 'k', owner: 'x' }
const failed = { outcome: 'failed', state: 'failed' } as const

/** For each situation: events that bring it about, and events like them that do not. */
const situations: Readonly<Record<string, readonly [readonly Draft[], readonly Draft[]]>> = {
  'claim-reply-recovered': [[recovered('a')], [voided()]],
  'unknown-claim-voided': [[voided()], [recovered('a')]],
  'late-claim-refused': [[said('claim.refused', { token: 't' })], [voided()]],
  'late-watch-move-refused': [[watch('refused')], [watch('moved')]],
  'released-at-shutdown': [[settled('a', { outcome: 'released', state: 'queued' })], [settled('a')]],
  'settle-repeat-confirmed': [[settled('a', { repeated: true })], [settled('a')]],
  'zombie-settle-refused': [[settled('a', { settled: 'lost' })], [settled('a', { settled: 'superseded' })]],
  'grace-held-reclaim-back': [[said('reclaim.heldBack', { leases: 1 })], [reclaimed('a')]],
  'dead-worker-reclaimed': [[reclaimed('a')], [claimed('a')]],
  'lease-became-uncertain': [[said('attempt.uncertain', job)], [said('attempt.certain', job)]],
  'lease-became-certain-again': [[said('attempt.certain', job)], [said('attempt.uncertain', job)]],
  'attempt-lost': [[said('attempt.lost', job)], [said('attempt.abandoned', job)]],
  'retry-happened': [[claimed('a', { failures: 1 })], [claimed('a', { evictions: 1 })]],
  'dead-lettered-by-failures': [[settled('a', failed)], [settled('a', { ...failed, permanent: true })]],
  'dead-lettered-by-evictions': [[reclaimed('a', { state: 'failed' })], [reclaimed('a')]],
  'cancelled-while-running': [[settled('a', { outcome: 'cancelled' })], [cancelAsked('a')]],
  'retried-by-operator': [
    [commanded('a')],
    [commanded('a', { applied: false }), commanded('a', { command: 'reschedule' })],
  ],
  'replay-failed-again': [[replayed('a~r1')], [replayed('a'), replayed('a~r1', { applied: false })]],
  'replay-met-another': [[unreplayed('a', { why: 'already', as: 'x' })], [unreplayed('a')]],
  'lost-replay-sent-again': [[replayed('a', { applied: false })], [replayed('a')]],
  'fleet-held': [[switched({ hold: true })], [switched({ paused: ['default'] })]],
  'resumed-from-checkpoint': [[recalled('a', 3)], [recalled('a', null), noted('a')]],
  'late-note-refused': [[noted('a', { applied: false })], [noted('a')]],
  'attempt-timed-out': [[signalled('a', 'TIMEOUT')], [signalled('a', 'CANCELLED')]],
  'attempt-abandoned': [[attempt('abandoned', 'a')], [attempt('lost', 'a')]],
  'late-lines-refused': [[appended('a', [1], { applied: false })], [appended('a', [1])]],
  'log-trimmed': [
    [finalLog('a', '1:1'), said('log.final', { job: 'a', next: 2, ns: [1] })],
    [finalLog('a', '1:1')],
  ],
  'failure-told': [
    [said('result.told', { job: 'a', how: 'failed' })],
    [said('result.told', { job: 'a', how: 'value' }), said('result.told', { job: 'a', how: 'timeout' })],
  ],
  'timed-out-by-sweep': [[timedOut('a')], [reclaimed('a')]],
  'slot-contested': [
    [said('schedule.fired', { outcome: 'lost' })],
    [said('schedule.fired', { outcome: 'fired' }), said('schedule.fired', { outcome: 'stands' })],
  ],
  'exclusive-work-lost': [[said('exclusive.lost', lease)], [said('exclusive.ended', lease)]],
  'exclusive-work-refused': [[said('named.refused', lease)], [said('exclusive.lost', lease)]],
  'stall-noticed': [[said('loop.stalled', { forMs: 9_000, jobs: ['a'] })], [said('attempt.uncertain', job)]],
  'leadership-changed-hands': [
    [said('leader.elected', { ...lease, by: 'w1' }), said('leader.elected', { ...lease, by: 'w2' })],
    [said('leader.elected', { ...lease, by: 'w1' }), said('leader.elected', { ...lease, by: 'w1' })],
  ],
  'leadership-lost': [[said('leader.lost', lease)], [said('leader.elected', lease)]],
  'watch-restarted': [
    [watch('restarted'), watch('moved'), watch('restarted')],
    [watch('restarted'), watch('moved')],
  ],
}

describe('sometimes', () => {
  test('each situation has its histories here', () => {
    expect(Object.keys(situations).sort()).toEqual(sometimesProperties.map(({ name }) => name).sort())
  })

  test.each(sometimesProperties.map((property) => [property.name, property] as const))(
    '%s',
    (name, property) => {
      const [met, like] = situations[name] ?? [[], []]
      expect(judge(property, met)).toMatchObject({ evaluations: 1, kinds: [] })
      expect(judge(property, like)).toMatchObject({ evaluations: 0, kinds: [] })
    },
  )
})
