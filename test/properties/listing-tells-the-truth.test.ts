import { describe, test } from 'vitest'
import { listingTellsTheTruth as property } from '../../src/properties/index.ts'
import {
  cancelAsked,
  claimed,
  commanded,
  counted,
  discarded,
  dispatched,
  expectHolds,
  expectRefused,
  inserted,
  listed,
  listing,
  reclaimed,
  replayed,
  settled,
  timedOut,
} from './dsl.ts'

const three = [inserted('a'), inserted('b'), inserted('c', { queue: 'long' })]
const failed = { outcome: 'failed', state: 'failed' } as const

describe('listing-tells-the-truth, of lists (contract 12.4)', () => {
  test('accepts each job once, the newest first, with what came meanwhile or without it', () => {
    expectHolds(property, [...three, listing(), listed(['c', 'b', 'a'])], 1)
    expectHolds(property, [...three, listing(), inserted('d'), listed(['c', 'b', 'a'])], 1)
    expectHolds(property, [...three, listing(), inserted('d'), settled('b'), listed(['d', 'c', 'b', 'a'])], 1)
    expectHolds(
      property,
      [...three, listing({ queue: 'default' }), listed(['b', 'a'], { queue: 'default' })],
      1,
    )
    expectHolds(property, [...three, inserted('a'), listing(), listed(['c', 'b', 'a'])], 1)
  })

  test('accepts a list that is given up, and one that goes on beside it', () => {
    const theirs = { by: 'w1' }
    const begun = [listing(), listing(theirs), inserted('d'), listing()]
    expectHolds(
      property,
      [...three, ...begun, listed(['c', 'b', 'a'], theirs), listed(['d', 'c', 'b', 'a'])],
      2,
    )
  })

  test('refuses a list that lacks a job, has one twice, or one that is not of it', () => {
    expectRefused(property, [...three, listing(), listed(['c', 'a'])], 'not-listed')
    expectRefused(property, [...three, listing(), listed(['c', 'b', 'b', 'a'])], 'listed-twice')
    expectRefused(property, [...three, listing(), listed(['x', 'c', 'b', 'a'])], 'not-there')
    const ofQueue = [listing({ queue: 'default' }), listed(['c', 'b', 'a'], { queue: 'default' })]
    expectRefused(property, [...three, ...ofQueue], 'not-there')
  })

  test('refuses a list in another order', () => {
    expectRefused(property, [...three, listing(), listed(['c', 'a', 'b'])], 'out-of-order')
  })
})

describe('listing-tells-the-truth, of counts', () => {
  test('accepts what becomes of a job, from its insertion to its end', () => {
    const place = [
      counted({}),
      inserted('a', { undispatched: true }),
      counted({ undispatched: 1 }),
      dispatched('a'),
    ]
    const runs = [counted({ due: 1 }), claimed('a'), counted({ running: 1 }), reclaimed('a')]
    const again = [counted({ delayed: 1 }), claimed('a', { epoch: 3 }), timedOut('a', { epoch: 4 })]
    const fails = [counted({ due: 1 }), claimed('a', { epoch: 5 }), settled('a', { epoch: 5, ...failed })]
    const ends = [counted({ dead: 1 }), commanded('a'), counted({ due: 1 }), cancelAsked('a'), counted({})]
    const life = [...place, ...runs, ...again, ...fails, ...ends]
    expectHolds(property, life, 9)
  })

  test('accepts that what did not apply, or is a repeat, changes nothing', () => {
    const running = [inserted('a'), claimed('a'), settled('a', { settled: 'lost', state: 'running' })]
    expectHolds(property, [...running, cancelAsked('a', { kind: 'requested' }), counted({ running: 1 })], 1)
    const again = [cancelAsked('a'), commanded('a'), claimed('a', { epoch: 2 }), commanded('a')]
    expectHolds(property, [inserted('a'), ...again, counted({ running: 1 })], 1)
  })

  test('accepts that a dead letter is none once it was replayed or discarded, whoever says again that it failed', () => {
    const dead = [inserted('a'), claimed('a'), settled('a', failed), counted({ dead: 1 })]
    const repeat = settled('a', { ...failed, repeated: true })
    expectHolds(property, [...dead, discarded('a'), counted({}), repeat, counted({})], 3)
    expectHolds(property, [...dead, inserted('a~r1'), replayed('a'), counted({ due: 1 })], 2)
    expectRefused(property, [...dead, discarded('a'), counted({ dead: 1 })], 'dead-miscounted')
  })

  test('refuses each that is miscounted, in a queue that is known or not', () => {
    expectRefused(property, [inserted('a'), counted({})], 'waiting-miscounted')
    expectRefused(property, [inserted('a', { undispatched: true }), counted({})], 'undispatched-miscounted')
    expectRefused(property, [inserted('a'), claimed('a'), counted({ running: 2 })], 'running-miscounted')
    expectRefused(
      property,
      [inserted('a'), claimed('a'), settled('a', failed), counted({})],
      'dead-miscounted',
    )
    expectRefused(property, [counted({ queue: 'other', due: 1 })], 'waiting-miscounted')
  })
})
