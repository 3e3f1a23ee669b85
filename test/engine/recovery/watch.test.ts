import { describe, expect, it } from 'vitest'
import type { WatchState } from '../../../src/engine/ports/store.ts'
import { isFresh, isSilent, moved } from '../../../src/engine/recovery/watch.ts'

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

describe('a move that nobody can date (0.20, decision 0014)', () => {
  it('begins the watch anew: its sender last heard of a time that is still to come', () => {
    const params = { lastReplyMs: 101_000, sinceReplyMs: 5_000, maxAgeMs: 5_000 }
    expect(moved(watch, params, 105_000).kind).toBe('moved')
    const anew = { ...watch, seenSinceMs: 104_999, seenAtMs: 104_999 }
    expect(moved(watch, params, 104_999)).toEqual({ kind: 'restarted', watch: anew })
  })

  it('is refused: its sender has heard nothing since the watch began, which is fresh', () => {
    const sinceMs = watch.seenSinceMs ?? 0
    const params = { lastReplyMs: sinceMs, sinceReplyMs: 0, maxAgeMs: 600_000 }
    const nowMs = (watch.seenAtMs ?? 0) + 1
    expect(moved(watch, params, nowMs).kind).toBe('moved')
    expect(moved(watch, { ...params, lastReplyMs: sinceMs - 1 }, nowMs)).toEqual({ kind: 'refused', watch })
  })
})

describe('a silent lease (0.20, decision 0009)', () => {
  const sweepMs = 5_000
  const ttlMs = 30_000
  const silent = (expiresAtMs: number): boolean => isSilent({ expiresAtMs, ttlMs }, sweepMs, 100_000)

  it('has lapsed, or ends more than a TTL, two sweeps and a second from now', () => {
    expect(silent(100_000)).toBe(true)
    expect(silent(100_001)).toBe(false)
    expect(silent(130_001)).toBe(false)
    expect(silent(141_000)).toBe(false)
    expect(silent(141_001)).toBe(true)
  })

  it('is never one that was renewed before a jump which the watch goes on after', () => {
    // The clock goes back by `backMs` so long after the last move; the next move comes `afterMs` later.
    for (let sinceMs = 0; sinceMs <= 2 * sweepMs; sinceMs += 500) {
      for (let afterMs = 0; sinceMs + afterMs <= 2 * sweepMs; afterMs += 500) {
        for (let backMs = 0; backMs <= 20_000; backMs += 500) {
          const jumpedAtMs = 100_000 + sinceMs
          const nowMs = jumpedAtMs - backMs + afterMs
          const { kind } = moved(watch, move(nowMs), nowMs)
          const lease = { expiresAtMs: jumpedAtMs + ttlMs, ttlMs }
          expect(kind === 'moved' && isSilent(lease, sweepMs, nowMs)).toBe(false)
        }
      }
    }
  })
})
