import { describe, test } from 'vitest'
import type { EventOf } from '../../src/engine/history.ts'
import { resultTruth as property } from '../../src/properties/index.ts'
import {
  type Draft,
  cancelAsked,
  claimed,
  ended,
  expectHolds,
  expectRefused,
  inserted,
  reclaimed,
  said,
  settled,
  timedOut,
} from './dsl.ts'

type Told = EventOf<'result.told'>
const awaited = said('result.awaited', { job: 'a', by: 'client' })
const told = (how: Told['how'], result = 0, error: string | null = null): Draft =>
  said('result.told', { job: 'a', how, result, error, by: 'client' })
const began = [inserted('a'), awaited, claimed('a')]
const failed = settled('a', { outcome: 'failed', state: 'failed', error: 'HANDLER_ERROR' })

describe('result-truth (contract 0.13, 0.15; cases E01, E31)', () => {
  test('accepts what the job came to', () => {
    expectHolds(property, [...began, settled('a'), told('value', 9), ended()])
    expectHolds(property, [...began, failed, told('failed', 0, 'HANDLER_ERROR'), ended()])
    expectHolds(property, [...began, reclaimed('a', { state: 'failed' }), told('failed', 0, 'LEASE_LOST')])
    expectHolds(property, [...began, timedOut('a', { state: 'failed' }), told('failed', 0, 'TIMEOUT')])
    expectHolds(property, [inserted('a'), awaited, cancelAsked('a'), told('cancelled'), ended()])
    expectHolds(property, [awaited, told('missing'), ended()])
  })

  test('accepts that the time was up, and that of a retried job an earlier end is told', () => {
    expectHolds(property, [...began, told('timeout'), settled('a'), awaited, told('value', 9), ended()])
    expectHolds(property, [...began, failed, claimed('a', { epoch: 2 }), told('failed', 0, 'HANDLER_ERROR')])
  })

  test('refuses an end that the job did not come to', () => {
    expectRefused(property, [...began, told('value', 9)], 'wrong-end')
    expectRefused(property, [...began, failed, told('value')], 'wrong-end')
    expectRefused(property, [...began, settled('a', { outcome: 'failed' }), told('failed')], 'wrong-end')
    expectRefused(property, [...began, settled('a'), told('cancelled')], 'wrong-end')
    expectRefused(property, [...began, told('missing')], 'wrong-end')
    expectRefused(property, [...began, told('other')], 'wrong-end')
  })

  test('refuses the result of an attempt that was superseded, and another error', () => {
    const stale = settled('a', { result: 7, settled: 'lost' })
    const won = settled('a', { epoch: 3, by: 'w2' })
    expectRefused(property, [...began, reclaimed('a'), won, stale, told('value', 7)], 'wrong-result')
    expectRefused(property, [...began, failed, told('failed', 0, 'OTHER')], 'wrong-error')
  })

  test('refuses that nothing is told of a job that has ended', () => {
    expectRefused(property, [...began, settled('a'), ended()], 'untold')
    expectRefused(property, [...began, awaited, settled('a'), told('value', 9), ended()], 'untold')
    expectHolds(property, [...began, told('timeout'), settled('a'), awaited, told('value', 9), ended()])
  })
})
