import { describe, test } from 'vitest'
import {
  exactlyOnceClaim,
  handlerTruth,
  idTruth,
  noLostJob,
  retentionTakesEndedOnly as property,
} from '../../src/properties/index.ts'
import {
  acknowledged,
  began,
  cancelAsked,
  claimed,
  commanded,
  ended,
  expectHolds,
  expectRefused,
  final,
  inserted,
  jumped,
  reclaimed,
  removed,
  runStarted,
  settled,
  started,
  timedOut,
} from './dsl.ts'

const minuteMs = 60_000
const failed = { outcome: 'failed', state: 'failed' } as const

describe('retention-takes-ended-only (contract 15, 27.70; case E24)', () => {
  test('accepts what has ended in whichever way, when it was kept for its time', () => {
    const over = [
      settled('a', { at: 1_000 }),
      reclaimed('b', { state: 'cancelled', at: 1_000 }),
      timedOut('c', { state: 'cancelled', at: 1_000 }),
      cancelAsked('d', { kind: 'cancelled', at: 1_000 }),
    ]
    const at = 1_000 + 10 * minuteMs
    for (const end of over) {
      const job = (end as { job: string }).job
      expectHolds(property, [runStarted(), inserted(job), end, removed(job, { at })], 1)
      expectRefused(
        property,
        [runStarted(), inserted(job), end, removed(job, { at: at - 1 })],
        'removed-early',
      )
    }
  })

  test('accepts one that is not kept at all, and one that comes by its id later', () => {
    const brief = { keepMs: 0 }
    expectHolds(
      property,
      [
        runStarted(),
        inserted('a', brief),
        settled('a'),
        removed('a'),
        inserted('a', brief),
        settled('a'),
        removed('a'),
      ],
      2,
    )
  })

  test('refuses the removal of what waits or runs, also when it was started anew', () => {
    const brief = inserted('a', { keepMs: 0 })
    expectRefused(property, [runStarted(), brief, removed('a', { at: 9e9 })], 'removed-unended')
    expectRefused(
      property,
      [runStarted(), brief, settled('a', { outcome: 'failed', state: 'queued' }), removed('a', { at: 9e9 })],
      'removed-unended',
    )
    const anew = [runStarted(), brief, settled('a', failed), commanded('a')]
    expectRefused(property, [...anew, removed('a', { at: 9e9 })], 'removed-unended')
    expectRefused(property, [runStarted(), removed('a')], 'removed-unknown')
  })

  test('refuses the removal of a dead letter that was not open for long enough, whatever its job says', () => {
    const brief = inserted('a', { keepMs: 0 })
    const dead = [runStarted(), brief, settled('a', { ...failed, at: 1_000 })]
    expectRefused(property, [...dead, removed('a', { at: 900_999 })], 'dead-letter-removed')
    expectHolds(property, [...dead, removed('a', { at: 901_000 })], 1)
  })

  test('goes by the clock of the database, which may be set', () => {
    const over = [runStarted(), inserted('a'), settled('a', { at: 1_000 })]
    expectHolds(property, [...over, jumped(10 * minuteMs), removed('a', { at: 2_000 })], 1)
    const back = [...over, jumped(-10_000), removed('a', { at: 1_000 + 10 * minuteMs })]
    expectRefused(property, back, 'removed-early')
  })

  test('counts a repeated settle as the end that it was', () => {
    const again = settled('a', { at: 500_000, repeated: true })
    const history = [runStarted(), inserted('a'), settled('a', { at: 1_000 }), again]
    expectHolds(property, [...history, removed('a', { at: 601_000 })], 1)
  })
})

describe('an id that was used anew', () => {
  test('names another job: it begins anew, and is no lost one (0.17)', () => {
    const first = [inserted('a'), acknowledged('a'), claimed('a'), started('a'), settled('a'), removed('a')]
    expectHolds(noLostJob, [...first, ended()])
    expectHolds(noLostJob, [...first, inserted('a'), final('a'), ended()])
    expectRefused(noLostJob, [...first, inserted('a'), ended()], 'acknowledged-job-lost')
    const second = [inserted('a', { kind: 'other' }), acknowledged('a'), claimed('a', { by: 'w2' })]
    expectHolds(idTruth, [...first, ...second])
    expectHolds(exactlyOnceClaim, [...first, ...second, started('a', { by: 'w2' })])
  })

  test('is still told from the one before by its fencing token (0.24)', () => {
    const life = [
      inserted('a'),
      claimed('a'),
      began('a', { fence: 'a:1:1:1' }),
      settled('a', { outcome: 'cancelled' }),
    ]
    const same = [...life, removed('a'), inserted('a'), claimed('a'), began('a', { fence: 'a:1:1:1' })]
    expectRefused(handlerTruth, same, 'other-fence')
  })
})
