import { describe, test } from 'vitest'
import { shutdownCostsNothing as property } from '../../src/properties/index.ts'
import {
  claimed,
  down,
  engine,
  expectHolds,
  expectRefused,
  fault,
  inserted,
  node,
  runStarted,
  settled,
  signalled,
  started,
  watch,
} from './dsl.ts'

const running = [runStarted(), inserted('a'), claimed('a', { at: 50_000 }), started('a')]
const asked = [fault('shutdown', { at: 60_000 }), node('stopping')]
const told = signalled('a', 'ENGINE_STOPPING', { at: 61_000 })
const failed = { outcome: 'failed' } as const

describe('shutdown-costs-nothing (contract 0.4, 5.11; cases E07, E26)', () => {
  test('accepts that what did not end is given back before the engine has stopped', () => {
    const released = settled('a', { outcome: 'released' })
    expectHolds(property, [...running, ...asked, told, released, engine('stopped')], 2)
    expectHolds(property, [...running, ...asked, settled('a'), engine('stopped')], 1)
  })

  test('refuses that a job is left to its lease', () => {
    expectRefused(property, [...running, ...asked, engine('stopped')], 'left-behind')
  })

  test('refuses that the stop is charged, unless the time of the attempt was over', () => {
    expectRefused(property, [...running, ...asked, told, settled('a', failed)], 'charged-by-shutdown')
    expectHolds(property, [...running, ...asked, told, settled('a', { ...failed, at: 120_000 })], 1)
  })

  test('refuses that an engine which has stopped sweeps on', () => {
    const stopped = [...running, ...asked, settled('a'), engine('stopped', { at: 70_000 })]
    expectRefused(property, [...stopped, watch('moved', { by: 'w1', at: 75_001 })], 'works-after-its-stop')
    const late = [watch('moved', { by: 'w1', at: 75_000 }), watch('refused', { by: 'w1', at: 90_000 })]
    // The clock of the database was set back since it was sent.
    late.push(watch('restarted', { by: 'w1', at: 91_000 }))
    expectHolds(property, [...stopped, ...late, watch('moved', { at: 99_000 })], 1)
  })

  test('accepts a claim that was on its way, and refuses a later one', () => {
    const claim = (at: number) => claimed('b', { at })
    const off = [settled('a'), settled('b')]
    expectHolds(property, [...running, ...asked, claim(60_500), ...off, engine('stopped')], 1)
    expectRefused(property, [...running, ...asked, claim(61_500)], 'claimed-while-stopping')
  })

  test('excuses a worker that a fault touched meanwhile, and an outage', () => {
    const touched = fault('lost-reply', { at: 60_600, call: 'claims.claim' })
    const off = [settled('a'), claimed('b', { at: 62_000 }), engine('stopped')]
    expectHolds(property, [...running, ...asked, told, touched, ...off])
    expectHolds(property, [
      ...running,
      ...asked,
      told,
      settled('a'),
      claimed('b', { at: 61_500 - 600 }),
      down(60_950),
      engine('stopped'),
    ])
  })
})
