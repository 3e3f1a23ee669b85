import { describe, test } from 'vitest'
import { capacity as property } from '../../src/properties/index.ts'
import {
  began,
  claimed,
  expectHolds,
  expectRefused,
  inserted,
  node,
  reclaimed,
  returned,
  settled,
} from './dsl.ts'

const started = node('started')
const jobs = ['a', 'b', 'c'].map((job) => inserted(job, { maxEvictions: 2 }))
const last = { evictions: 1 } as const

describe('capacity (contract 0.7, 0.10)', () => {
  test('accepts as many handlers of a queue as its concurrency, and refuses one more', () => {
    const full = [started, ...jobs, began('a'), began('b')]
    expectHolds(property, [...full, returned('a'), began('c')], 3)
    expectRefused(property, [...full, began('c')], 'over-capacity')
  })

  test('counts each queue and each process by itself', () => {
    const elsewhere = inserted('d', { queue: 'long' })
    expectHolds(property, [started, ...jobs, elsewhere, began('a'), began('b'), began('d')])
    const next = node('started', { by: 'w1#2' })
    expectHolds(property, [started, ...jobs, began('a'), began('b'), next, began('c', { by: 'w1#2' })])
  })

  test('accepts that a job on its last eviction is claimed alone', () => {
    expectHolds(property, [started, ...jobs, claimed('a', last), settled('a'), claimed('b')], 1)
    const taken = [claimed('a', last), reclaimed('a', { evictions: 2 }), claimed('b')]
    expectHolds(property, [started, ...jobs, ...taken], 1)
  })

  test('refuses one in a batch, beside others, or others beside it', () => {
    const kind = 'not-alone'
    expectRefused(property, [started, ...jobs, claimed('a', { ...last, batch: 2 })], kind)
    expectRefused(property, [started, ...jobs, claimed('b'), claimed('a', last)], kind)
    expectRefused(property, [started, ...jobs, claimed('a', last), claimed('b')], kind)
  })
})
