import { describe, test } from 'vitest'
import { fencing as property } from '../../src/properties/index.ts'
import { claimed, expectHolds, expectRefused, reclaimed, renewed, settled, timedOut } from './dsl.ts'

describe('fencing (contract 0.13, 0.15)', () => {
  test('accepts the renewals and the settle of the holder', () => {
    expectHolds(property, [claimed('a'), renewed('a'), settled('a')], 2)
  })

  test('accepts a repeat that is the first to apply', () => {
    expectHolds(property, [claimed('a'), settled('a', { repeated: true })], 1)
  })

  test('accepts that a repeat is told of its own outcome, even while another already runs the job', () => {
    const failed = { outcome: 'failed' } as const
    expectHolds(property, [
      claimed('a'),
      settled('a', failed),
      claimed('a', { epoch: 2, by: 'w2' }),
      settled('a', { ...failed, repeated: true }),
      renewed('a', { epoch: 2, by: 'w2' }),
    ])
  })

  test('accepts that a zombie is refused', () => {
    const lost = settled('a', { settled: 'lost', state: 'queued' })
    expectHolds(property, [
      claimed('a'),
      reclaimed('a'),
      lost,
      settled('a', { settled: 'superseded', repeated: true }),
    ])
  })

  test('refuses a settle that applies at a superseded epoch', () => {
    expectRefused(property, [claimed('a'), reclaimed('a'), settled('a')], 'unfenced-settle')
    expectRefused(
      property,
      [claimed('a'), timedOut('a'), settled('a', { repeated: true })],
      'unfenced-settle',
    )
  })

  test('refuses a settle by a process other than the holder', () => {
    expectRefused(property, [claimed('a'), settled('a', { by: 'w1#2' })], 'unfenced-settle')
  })

  test('refuses a repeat that is told of an outcome that is not its own', () => {
    const other = settled('a', { outcome: 'failed', repeated: true })
    expectRefused(property, [claimed('a'), settled('a'), other], 'unfenced-settle')
    const twice = [claimed('a'), settled('a'), settled('a')]
    expectRefused(property, twice, 'unfenced-settle')
  })

  test.each(['lost', 'superseded'] as const)('refuses that a live holder is answered %s', (answer) => {
    expectRefused(
      property,
      [claimed('a'), settled('a', { settled: answer, repeated: answer === 'superseded', state: 'running' })],
      'holder-refused',
    )
  })

  test('refuses a refusal that is not the honest one', () => {
    const taken = [claimed('a'), reclaimed('a')]
    const told = { epoch: 1, state: 'queued' } as const
    expectRefused(property, [...taken, settled('a', { ...told, settled: 'superseded' })], 'other-refusal')
    expectRefused(
      property,
      [...taken, settled('a', { ...told, settled: 'lost', repeated: true })],
      'other-refusal',
    )
    expectHolds(property, [...taken, settled('a', { ...told, settled: 'superseded', repeated: true })])
  })

  test('refuses a heartbeat that revives a lease that was taken, or another one', () => {
    expectRefused(property, [claimed('a'), reclaimed('a'), renewed('a')], 'unheld-lease-renewed')
    expectRefused(property, [claimed('a'), renewed('a', { by: 'w2' })], 'unheld-lease-renewed')
    expectRefused(property, [claimed('a'), settled('a'), renewed('a')], 'unheld-lease-renewed')
  })
})
