// How an engine treats a job on its last eviction, which runs alone: decision 0003.
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { ClaimParams } from '../../../src/engine/ports/store.ts'
import { type Bench, type BenchOptions, type Gate, bench, gate, never, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const noop = defineJob({ name: 'noop', run: () => {} })
const claims = ({ wire }: Bench): ClaimParams[] => wire.sent('claims.claim') as ClaimParams[]
const killer = defineJob({ name: 'killer', retry: { maxEvictions: 2 }, leaseTtlMs: 30_000, run: () => {} })

/** Stores the job and lets a worker that dies lose its lease, before the engine comes to see it. */
async function evictOnce(b: Bench, { id = 'killer', timeoutMs = 60_000 } = {}): Promise<void> {
  const producer = bench({ clock: b.clock, database: b.database })
  await producer.engine.enqueue(killer, null, { id, priority: 'critical', timeoutMs })
  const queues = [{ queue: 'default', limit: 1 }]
  const claim = {
    token: `dead.${id}`,
    worker: 'dead',
    limit: 1,
    queues,
    kinds: ['killer'],
    solo: 'take',
  } as const
  await b.database.raw.claims.claim(claim)
  await b.clock.advance(36_000)
  expect((await b.database.job(id)).evictions).toBe(1)
}

const lastClaimMs = ({ wire }: Bench): number =>
  wire.calls.findLast(({ call }) => call === 'claims.claim')?.atMs ?? 0

/** What each claim said of such a job, where it changed, and when, in s. */
function stances({ wire }: Bench, fromMs: number): [string, number][] {
  const changes: [string, number][] = []
  for (const { call, params, atMs } of wire.calls) {
    if (call !== 'claims.claim' || atMs < fromMs) continue
    const { solo } = params as ClaimParams
    if (changes.at(-1)?.[0] !== solo) changes.push([solo, Math.round((atMs - fromMs) / 1_000)])
  }
  return changes
}

describe('a job on its last eviction (0.10)', () => {
  it('waits until nothing else runs, then runs alone', async () => {
    const done = gate()
    const busy = defineJob({ name: 'busy', run: () => done.promise })
    const alone: number[] = []
    const watched = killer.handle(() => void alone.push(b.engine.health().running?.worker.running ?? -1))
    const b = bench({ jobs: [busy, watched], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(busy, null)
    await b.clock.settle()
    await evictOnce(b)
    const before = claims(b).length
    await b.engine.enqueueMany(Array.from({ length: 3 }, () => ({ job: busy, input: null })))
    await b.clock.advance(15_000)
    expect(alone).toEqual([])
    expect(claims(b)).toHaveLength(before)
    expect(b.engine.health().running?.worker.fetch.draining).toBe(true)
    done.open()
    await b.clock.advance(100)
    expect(alone).toEqual([1])
    expect(claims(b)[before]).toMatchObject({ solo: 'take' })
    await b.clock.advance(60_000)
    expect(b.of('attempt.confirmed')).toHaveLength(5)
    await b.engine.stop()
  })

  it('is not kept waiting by a handler that was abandoned and never returns, nor does it keep others waiting', async () => {
    const hung = defineJob({ name: 'hung', timeoutMs: 1_000, retry: { maxAttempts: 1 }, run: () => never() })
    const b = bench({ jobs: [hung, killer, noop], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(hung, null)
    await b.clock.advance(12_000)
    expect(b.of('attempt.abandoned')).toHaveLength(1)
    await evictOnce(b)
    await b.engine.enqueue(noop, null, { id: 'after' })
    await b.clock.advance(60_000)
    expect((await b.database.job('killer')).state).toBe('succeeded')
    expect((await b.database.job('after')).state).toBe('succeeded')
    await stopNow(b)
  })

  it('that is abandoned itself lets the engine work on', async () => {
    const hung = defineJob({
      name: 'killer',
      timeoutMs: 1_000,
      retry: { maxEvictions: 2, maxAttempts: 1 },
      run: () => never(),
    })
    const b = bench({ jobs: [hung, noop], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await evictOnce(b, { timeoutMs: 1_000 })
    await b.clock.advance(60_000)
    await b.engine.enqueue(noop, null, { id: 'after' })
    await b.clock.advance(5_000)
    expect((await b.database.job('after')).state).toBe('succeeded')
    await stopNow(b)
  })
})

describe('waiting for it (0.10)', () => {
  /** An engine that runs a job until the gate opens, and has just stopped claiming for the killer. */
  async function waiting(options: BenchOptions = {}, leaseTtlMs = 30_000) {
    const holds: Gate[] = []
    const run = (): Promise<void> => {
      holds.push(gate())
      return (holds.at(-1) as Gate).promise
    }
    const busy = defineJob({ name: 'busy', leaseTtlMs, timeoutMs: 86_400_000, run })
    const b = bench({ jobs: [busy, killer, noop], queues: { default: { concurrency: 5 } }, ...options })
    await b.engine.start()
    await b.engine.enqueue(busy, null)
    await b.clock.settle()
    await evictOnce(b)
    const fromMs = lastClaimMs(b)
    expect(b.engine.health().running?.worker.fetch.draining).toBe(true)
    /** Goes on to a time counted from then, and there stores a job that is behind the killer. */
    const until = async (atMs: number): Promise<string> => {
      await b.clock.advance(fromMs + atMs - b.clock.nowMs)
      const { id } = await b.engine.enqueue(noop, null)
      // The loop gives way to timers now and then, so the time must be looked at, though it does not move.
      await b.clock.advance(0)
      return id
    }
    const stateOf = async (id: string): Promise<string> => (await b.database.job(id)).state
    return { b, holds, fromMs, until, stateOf }
  }

  it('ends after the shortest lease held: it is passed over for ten times as long, then awaited again', async () => {
    const { b, fromMs, until, stateOf } = await waiting()
    const behind = await until(29_900)
    expect(await stateOf(behind)).toBe('queued')
    await b.clock.advance(100)
    expect(await stateOf(behind)).toBe('succeeded')
    expect(b.engine.health().running?.worker.fetch.draining).toBe(false)
    for (let second = 31; second < 330; second += 10) {
      expect(await stateOf(await until(second * 1_000))).toBe('succeeded')
    }
    const again = await until(330_000)
    expect(await stateOf(again)).toBe('queued')
    expect(b.engine.health().running?.worker.fetch.draining).toBe(true)
    expect(stances(b, fromMs)).toEqual([
      ['await', 0],
      ['pass', 30],
      ['await', 330],
    ])
    await stopNow(b)
  })

  it('lasts twice as long each time that it was in vain, and ten elevenths of the time are for the others', async () => {
    const { b, fromMs, until } = await waiting()
    for (let second = 30; second < 8_000; second += 10) await until(second * 1_000)
    const changes = stances(b, fromMs)
    expect(changes.slice(0, 8)).toEqual([
      ['await', 0],
      ['pass', 30],
      ['await', 330],
      ['pass', 390],
      ['await', 990],
      ['pass', 1_110],
      ['await', 2_310],
      ['pass', 2_550],
    ])
    await stopNow(b)
  })

  it('is as long as the shortest lease held says', async () => {
    const tight = { sweepMs: 500, heartbeatRetryMs: 500, replyMs: 100 }
    const { b, fromMs, until } = await waiting({ intervals: tight }, 12_000)
    for (let second = 12; second < 140; second += 1) await until(second * 1_000)
    expect(stances(b, fromMs).slice(0, 3)).toEqual([
      ['await', 0],
      ['pass', 12],
      ['await', 132],
    ])
    await stopNow(b)
  })

  it('is over at once when the engine becomes idle, also while it passes over', async () => {
    const { b, holds, until, stateOf } = await waiting()
    await until(100_000)
    expect(await stateOf('killer')).toBe('queued')
    holds[0]?.open()
    await b.clock.advance(0)
    expect(await stateOf('killer')).toBe('succeeded')
    await b.engine.stop()
  })

  it('begins anew with one lease after the engine was idle', async () => {
    const { b, holds, until } = await waiting()
    for (let second = 30; second < 1_200; second += 10) await until(second * 1_000)
    holds.splice(0).forEach(({ open }) => open())
    await b.clock.advance(60_000)
    expect((await b.database.job('killer')).state).toBe('succeeded')
    await b.engine.enqueue(defineJob({ name: 'busy' }), null, { timeoutMs: 86_400_000 })
    await b.clock.settle()
    await evictOnce(b, { id: 'next' })
    const fromMs = lastClaimMs(b)
    for (let k = 0; k < 10; k++) {
      await b.engine.enqueue(noop, null)
      await b.clock.advance(5_000)
    }
    expect(stances(b, fromMs)).toEqual([
      ['await', 0],
      ['pass', 30],
    ])
    await stopNow(b)
  })

  it('begins anew with one lease once nothing is due, because another took the killer', async () => {
    const { b, fromMs, until } = await waiting()
    for (let second = 30; second < 500; second += 10) await until(second * 1_000)
    const other = bench({
      clock: b.clock,
      database: b.database,
      jobs: [killer],
      queues: { default: { concurrency: 1 } },
    })
    await other.engine.start()
    await b.clock.advance(1_000)
    expect((await b.database.job('killer')).state).toBe('succeeded')
    await other.engine.stop()
    // Passes to the end, then looks once more and finds nothing.
    for (let second = 510; second < 1_020; second += 10) await until(second * 1_000)
    expect(stances(b, fromMs).map(([stance]) => stance)).toEqual(['await', 'pass', 'await', 'pass', 'await'])
    await b.clock.advance(60_000)
    await evictOnce(b, { id: 'next' })
    const againMs = lastClaimMs(b)
    for (let k = 0; k < 10; k++) {
      await b.engine.enqueue(noop, null)
      await b.clock.advance(5_000)
    }
    expect(stances(b, againMs)).toEqual([
      ['await', 0],
      ['pass', 30],
    ])
    await stopNow(b)
  })

  it('starves neither the killer nor the others, though each of them runs longer than one wait', async () => {
    const hours = defineJob({ name: 'busy', run: ({ sleep }) => sleep(50_000) })
    const alone: number[] = []
    const watched = killer.handle(() => void alone.push(b.engine.health().running?.worker.running ?? -1))
    const b = bench({ jobs: [hours, watched], queues: { default: { concurrency: 2 } } })
    await b.engine.start()
    const supply = (): Promise<unknown> =>
      b.engine.enqueueMany(Array.from({ length: 2 }, () => ({ job: hours, input: null })))
    await supply()
    await b.clock.advance(25_000)
    await supply()
    await evictOnce(b)
    const fromMs = b.clock.nowMs
    for (let k = 0; k < 40 && alone.length === 0; k++) {
      await supply()
      await b.clock.advance(25_000)
    }
    expect(alone).toEqual([1])
    expect(b.clock.nowMs - fromMs).toBeLessThan(500_000)
    const ended = b.of('attempt.confirmed').length
    expect(ended).toBeGreaterThan((2 * (b.clock.nowMs - fromMs)) / 50_000 / 2)
    await stopNow(b)
  })
})
