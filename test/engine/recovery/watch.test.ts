import { describe, expect, it } from 'vitest'
import type { WatchState } from '../../../src/engine/ports/store.ts'
import { isFresh, moved } from '../../../src/engine/recovery/watch.ts'

const watch: WatchState = { sweepMs: 5_000, seenSinceMs: 1_000, seenAtMs: 100_000 }
const move = (nowMs: number): { lastReplyMs: number; sinceReplyMs: number; maxAgeMs: number } => ({
  lastReplyMs: nowMs,
  sinceReplyMs: 0,
  maxAgeMs: 5_000,
})

describe('the outage watch (0.20)', () => {
  it('is fresh for two sweeps, and up to a second ahead of now', () => {
    expect(isFresh(watch, 110_000)).toBe(true)
    expect(isFresh(watch, 110_001)).toBe(false)
    expect(isFresh(watch, 99_000)).toBe(true)
    expect(isFresh(watch, 98_999)).toBe(false)
    expect(isFresh({ ...watch, seenAtMs: null }, 0)).toBe(false)
  })

  it('goes on while it is fresh, and never back', () => {
    expect(moved(watch, move(105_000), 105_000)).toEqual({
      kind: 'moved',
      watch: { ...watch, seenAtMs: 105_000 },
    })
    expect(moved(watch, move(99_500), 99_500)).toEqual({ kind: 'moved', watch })
  })

  it.each([
    ['a gap', 110_001],
    ['a clock that went back', 98_999],
  ])('restarts after %s', (_what, nowMs) => {
    expect(moved(watch, move(nowMs), nowMs)).toEqual({
      kind: 'restarted',
      watch: { ...watch, seenSinceMs: nowMs, seenAtMs: nowMs },
    })
  })

  it('restarts when it was never moved', () => {
    const fresh = { ...watch, seenSinceMs: null, seenAtMs: null }
    expect(moved(fresh, move(7), 7)).toMatchObject({
      kind: 'restarted',
      watch: { seenSinceMs: 7, seenAtMs: 7 },
    })
  })

  it('refuses a move that was sent more than a call ago', () => {
    const params = { lastReplyMs: 90_000, sinceReplyMs: 10_000, maxAgeMs: 5_000 }
    expect(moved(watch, params, 105_000).kind).toBe('moved')
    expect(moved(watch, params, 105_001)).toEqual({ kind: 'refused', watch })
  })
})
