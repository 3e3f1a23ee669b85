import { describe, test } from 'vitest'
import { handlerTruth as property } from '../../src/properties/index.ts'
import {
  began,
  expectHolds,
  expectRefused,
  final,
  inserted,
  returned,
  settled,
  signalled,
  threw,
} from './dsl.ts'

const failed = { outcome: 'failed' } as const
const released = { outcome: 'released' } as const

describe('handler-truth (contract 0.4, 0.23)', () => {
  test('accepts what the handler returned, as settled and as stored', () => {
    expectHolds(property, [inserted('a'), began('a'), returned('a'), settled('a'), final('a')], 3)
  })

  test('accepts what it threw, and that a value without a JSON form fails for good', () => {
    expectHolds(property, [threw('a'), settled('a', failed)])
    expectHolds(property, [threw('a', { permanent: true }), settled('a', { ...failed, permanent: true })])
    const neither = returned('a', { how: 'neither', permanent: true })
    expectHolds(property, [neither, settled('a', { ...failed, permanent: true })])
  })

  test('refuses another input, unless a schema made something of it', () => {
    expectRefused(property, [inserted('a'), began('a', { input: 8 })], 'other-input')
    expectHolds(property, [inserted('a'), began('a', { input: 0 }), returned('a'), settled('a')])
  })

  test('refuses another result, when settled or when stored', () => {
    expectRefused(property, [returned('a'), settled('a', { result: 0 })], 'other-result')
    expectRefused(property, [returned('a'), settled('a'), final('a', { result: 0 })], 'stored-otherwise')
  })

  test('refuses a success that was none, and a failure that was none', () => {
    expectRefused(property, [threw('a'), settled('a')], 'error-taken-for-success')
    expectRefused(property, [began('a'), settled('a')], 'success-without-an-end')
    expectRefused(property, [returned('a'), settled('a', failed)], 'success-taken-for-error')
    expectRefused(property, [threw('a'), settled('a', { ...failed, permanent: true })], 'permanence-changed')
    expectRefused(property, [threw('a'), settled('a', released)], 'given-back-unasked')
  })

  test('lets a failure be overruled once the signal fired, but no result', () => {
    expectHolds(property, [signalled('a', 'ENGINE_STOPPING'), threw('a'), settled('a', released)])
    expectHolds(property, [signalled('a', 'TIMEOUT'), returned('a'), settled('a', failed)])
    expectRefused(
      property,
      [signalled('a', 'TIMEOUT'), returned('a'), settled('a', { result: 1 })],
      'other-result',
    )
    expectRefused(
      property,
      [signalled('a', 'CANCELLED'), threw('a'), settled('a')],
      'error-taken-for-success',
    )
  })

  test('says nothing of a late repeat, whose job another attempt has run since', () => {
    const repeat = settled('a', { ...failed, repeated: true })
    expectHolds(property, [threw('a'), settled('a', failed), returned('a', { epoch: 2 }), repeat])
  })
})
