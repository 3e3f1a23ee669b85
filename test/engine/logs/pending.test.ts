// Lines that wait for the store: numbered, bounded, and none lost in silence.
import { expect, test } from 'vitest'
import { createPending } from '../../../src/engine/logs/pending.ts'

const big = 'x'.repeat(4_096)

test('a batch is 100 lines or 64 KiB, whatever comes first, and stays until it is taken', () => {
  const pending = createPending()
  for (let k = 0; k < 150; k++) pending.add('info', () => `${k}`)
  expect(pending.isBatch).toBe(true)
  expect(pending.batch().map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, k) => k))
  expect(pending.batch()).toHaveLength(100)
  pending.taken(100)
  expect(pending.isBatch).toBe(false)
  expect(pending.batch().map(({ line }) => line)).toEqual(Array.from({ length: 50 }, (_, k) => 100 + k))
  pending.taken(50)
  for (let k = 0; k < 20; k++) pending.add('info', () => big)
  expect(pending.isBatch).toBe(true)
  expect(pending.batch()).toHaveLength(16)
})

test('what comes beyond 2,000 lines is counted, never made, and told in its place', () => {
  const pending = createPending()
  for (let k = 0; k < 2_500; k++) {
    pending.add('info', () => {
      if (k >= 2_000) throw new Error('made for nothing')
      return `${k}`
    })
  }
  expect(pending.size).toBe(2_000)
  pending.taken(100)
  pending.add('error', () => 'after')
  expect(pending.size).toBe(1_902)
  pending.taken(1_900)
  expect(pending.batch()).toEqual([
    { line: 2_000, level: 'warn', text: expect.stringContaining('500 lines were dropped here') as string },
    { line: 2_001, level: 'error', text: 'after' },
  ])
})

test('what comes beyond a mebibyte likewise', () => {
  const pending = createPending()
  for (let k = 0; k < 400; k++) pending.add('info', () => big)
  expect(pending.size).toBe(255)
  pending.close()
  pending.taken(255)
  expect(pending.batch()).toMatchObject([{ text: expect.stringContaining('145 lines') as string }])
})
