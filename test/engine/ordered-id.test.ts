import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createOrderedIds } from '../../src/engine/ordered-id.ts'

describe('ids in the order of time', () => {
  it('are UUIDs of version 7 that sort as they were made, within a ms too', () => {
    let nowMs = 1_767_225_600_000
    const id = createOrderedIds(() => nowMs, randomUUID)
    const ids = Array.from({ length: 9_000 }, (_, n) => {
      if (n % 3_000 === 0) nowMs += 1
      return id()
    })
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
    for (const made of ids) {
      expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
    expect(Number.parseInt((ids[0] as string).replaceAll('-', '').slice(0, 12), 16)).toBe(1_767_225_600_001)
  })

  it('stay unique past what the counter of one ms can count, and when the clock goes back', () => {
    let nowMs = 5_000
    const id = createOrderedIds(() => nowMs, randomUUID)
    const ids = Array.from({ length: 10_000 }, id)
    nowMs = 4_000
    ids.push(id(), id())
    expect(new Set(ids).size).toBe(ids.length)
  })
})
