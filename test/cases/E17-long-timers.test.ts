import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { systemClock } from '../../src/engine/system.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { failure } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, stores } from './support.ts'

trapUnhandledRejections()

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]
const far: readonly (readonly [string, number])[] = [
  ['24.8 days', 2_142_720_000],
  ['24.86 days (2^31 ms)', 2 ** 31],
  ['60 days', 60 * dayMs],
]
/** An engine that has seldom anything to do, so that months pass in a test. */
const patient = { sweepMs: 6 * hourMs, pollMsMax: 6 * hourMs, heartbeatMs: 6 * hourMs }
const [leaseTtlMs, timeoutMs] = [30 * dayMs, 50 * dayMs]

describe.each(stores)('E17 on %s: what is far away', (_name, open) => {
  test.each(far)(
    'a job that is due in %s runs then, and until then nothing turns in a circle',
    async (_what, delayMs) => {
      const all = fleet(open)
      const starts: number[] = []
      const job = defineJob({
        name: 'job',
        leaseTtlMs,
        timeoutMs,
        run: () => void starts.push(all.clock.nowMs),
      })
      const a = all.process({ jobs: [job], intervals: patient })
      await a.engine.start()
      await a.engine.enqueue(job, null, { id: 'x', delayMs })
      await all.clock.advance(delayMs - 1)
      expect(starts).toEqual([])
      const before = a.wire.sent('claims.claim').length
      expect(before).toBeLessThan(20 + delayMs / patient.pollMsMax)
      await all.clock.advance(6 * hourMs + 1)
      expect(starts).toHaveLength(1)
      expect(await all.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1 })
      await all.stop()
    },
  )

  test('an idle engine polls no more than its interval says, minute by minute', async () => {
    const all = fleet(open)
    const job = defineJob({ name: 'job', run: () => {} })
    const a = all.process({ jobs: [job] })
    await a.engine.start()
    await a.engine.enqueue(job, null, { delayMs: 2 ** 31 })
    await all.clock.advance(2 * minuteMs)
    for (let minute = 0; minute < 10; minute++) {
      const before = a.wire.sent('claims.claim').length
      await all.clock.advance(minuteMs)
      expect(a.wire.sent('claims.claim').length - before).toBeLessThanOrEqual(2)
    }
    await all.stop()
  })

  test.each([Number.POSITIVE_INFINITY, Number.NaN, -1, 0.5])(
    'a delay, a lease or a timeout of %d is refused before the store is asked',
    async (ms) => {
      const all = fleet(open)
      const { engine, wire } = all.process()
      const job = defineJob({ name: 'job' })
      for (const options of [{ delayMs: ms }, { leaseTtlMs: ms }, { timeoutMs: ms }]) {
        expect(await failure(engine.enqueue(job, null, options))).toMatchObject({ code: 'INVALID_ARGUMENT' })
      }
      for (const what of ['leaseTtlMs', 'timeoutMs'] as const) {
        expect(() => defineJob({ name: 'job', [what]: ms })).toThrow(what)
      }
      expect(wire.calls).toEqual([])
    },
  )
})

describe("E17 on Node's own timers (nodejs/node#4541)", () => {
  const warnings: string[] = []
  const warned = ({ name }: Error): void => void warnings.push(name)
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date', 'performance'],
    })
    process.on('warning', warned)
  })
  afterEach(() => {
    process.off('warning', warned)
    vi.useRealTimers()
  })

  test('a handler that sleeps for 40 days under a timeout of 50 and a lease of 30 runs once, to its end', async () => {
    const store = memoryStore({ clock: systemClock })
    const ended: string[] = []
    const job = defineJob({
      name: 'job',
      leaseTtlMs,
      timeoutMs,
      run: async ({ sleep }) => {
        await sleep(40 * dayMs)
        ended.push('slept')
      },
    })
    const queues = { default: { concurrency: 1 } }
    const engine = createEngine({ store, jobs: [job], queues, intervals: patient })
    await engine.start()
    await engine.enqueue(job, null, { id: 'x' })
    await vi.advanceTimersByTimeAsync(40 * dayMs - 1_000)
    expect(ended).toEqual([])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(ended).toEqual(['slept'])
    expect(await engine.get('x')).toMatchObject({ state: 'succeeded', attempt: 1, evictions: 0 })
    await engine.stop()
    expect(vi.getTimerCount()).toBe(0)
    expect(warnings).toEqual([])
  })
})
