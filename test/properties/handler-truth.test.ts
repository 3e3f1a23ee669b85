import { describe, test } from 'vitest'
import { handlerTruth as property } from '../../src/properties/index.ts'
import {
  began,
  commanded,
  expectHolds,
  expectRefused,
  final,
  inserted,
  reclaimed,
  returned,
  said,
  settled,
  signalled,
  threw,
} from './dsl.ts'

const failed = { outcome: 'failed' } as const
const released = { outcome: 'released' } as const

describe('handler-truth (contract 0.4, 0.23)', () => {
  test('accepts what the handler returned, as settled and as stored', () => {
    expectHolds(property, [inserted('a'), began('a'), returned('a'), settled('a'), final('a')], 4)
  })

  test('accepts what it threw, and that a value without a JSON form fails for good', () => {
    expectHolds(property, [threw('a'), settled('a', failed)])
    expectHolds(property, [threw('a', { permanent: true }), settled('a', { ...failed, permanent: true })])
    const invalid = { permanent: true, error: 'RESULT_INVALID' } as const
    expectHolds(property, [
      returned('a', { how: 'neither', ...invalid }),
      settled('a', { ...failed, ...invalid }),
    ])
    const refused = said('settle.refused', { job: 'a', epoch: 1 })
    expectHolds(property, [returned('a'), refused, settled('a', { ...failed, ...invalid })])
  })

  test('refuses calls that are not all middleware in its order and the handler, once each', () => {
    for (const calls of ['ioh', 'oi', 'oihh', 'oh'])
      expectRefused(property, [returned('a', { calls }), settled('a')], 'other-calls')
  })

  test('refuses a fencing token that does not rise, or names another epoch', () => {
    const two = [began('a'), began('a', { epoch: 2 })]
    expectHolds(property, [inserted('a'), ...two])
    expectRefused(property, [inserted('a'), began('a'), began('a')], 'other-fence')
    expectRefused(property, [inserted('a'), began('a', { fence: 'a:1' })], 'other-fence')
  })

  test('refuses an error that is not the last that there was', () => {
    const ended = [threw('a'), settled('a', { ...failed, state: 'failed' })]
    const told = { state: 'failed', error: 'HANDLER_ERROR' } as const
    expectHolds(property, [...ended, final('a', told)])
    expectRefused(property, [...ended, final('a', { ...told, error: null })], 'error-forgotten')
    expectRefused(property, [threw('a', { error: 'TIMEOUT' }), settled('a', failed)], 'other-error')
    const evicted = [
      reclaimed('a', { state: 'failed' }),
      final('a', { state: 'failed', error: 'LEASE_LOST' }),
    ]
    expectHolds(property, evicted)
    expectHolds(property, [...ended, commanded('a'), final('a', { state: 'queued' })])
    // A retry whose answer was lost is sent again when the job has failed again: it starts nothing.
    const second = [threw('a', { epoch: 2 }), settled('a', { ...failed, epoch: 2, state: 'failed' })]
    expectHolds(property, [...ended, commanded('a'), ...second, commanded('a'), final('a', told)])
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

  test('knows that it fired, though an attempt that was superseded hears only then that it was', () => {
    const stopping = [signalled('a', 'ENGINE_STOPPING', { epoch: 3 }), threw('a', { epoch: 3 })]
    const zombie = [signalled('a', 'LEASE_LOST', { by: 'w2' }), threw('a', { by: 'w2' })]
    expectHolds(property, [...stopping, ...zombie, settled('a', { ...released, epoch: 3 })])
  })

  test('says nothing of a late repeat, whose job another attempt has run since', () => {
    const repeat = settled('a', { ...failed, repeated: true })
    expectHolds(property, [threw('a'), settled('a', failed), returned('a', { epoch: 2 }), repeat])
  })
})
