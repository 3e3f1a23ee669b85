import { describe, expect, test } from 'vitest'
import type { Backoff } from '../../src/engine/jobs/backoff.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { durationMsMax } from '../../src/engine/jobs/figures.ts'
import type { Random } from '../../src/engine/ports/random.ts'
import type { SettleParams } from '../../src/engine/ports/store.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, stores } from './support.ts'

trapUnhandledRejections()

const numbers = [31, 32, 53, 54, 64, 1_025]
const capMs = 8_000

describe.each(stores)('E16 on %s: the delay before a retry', (_name, open) => {
  /** The delays that were stored, by the number of the attempt that failed. */
  async function delays(jitter: boolean, unit: number): Promise<Map<number, number>> {
    const all = fleet(open)
    const { clock, database } = all
    const backoff: Backoff = { kind: 'exponential', firstMs: 1_000, factor: 2, maxMs: capMs, jitter }
    const job = defineJob({
      name: 'job',
      retry: { maxAttempts: 1_100, backoff },
      run: () => Promise.reject(new Error('again')),
    })
    let ids = 0
    const random: Random = { id: (stream) => `${stream}-${++ids}`, unit: () => unit }
    const a = all.process({ jobs: [job], random, intervals: { pollMsMax: 1_000 } })
    const stored = new Map<number, number>()
    const { settle } = a.wire.store.jobs
    const watched: typeof settle = async (params: SettleParams) => {
      const reply = await settle(params)
      const [settlement] = params.settlements
      const sentMs = settlement?.outcome.kind === 'failed' ? settlement.outcome.delayMs : Number.NaN
      const { visibleAtMs, updatedAtMs, state } = await database.job('x')
      // After no delay at all it may be claimed again by now.
      stored.set(stored.size + 1, state === 'queued' ? (visibleAtMs ?? Number.NaN) - updatedAtMs : sentMs)
      return reply
    }
    Object.assign(a.wire.store.jobs, { settle: watched })
    await a.engine.enqueue(job, null, { id: 'x' })
    await a.engine.start()
    while (stored.size < 1_025) await clock.advance(600_000)
    await all.stop()
    return stored
  }

  test.each([
    ['none', false, 0.5],
    ['the least', true, 0],
    ['the most', true, 1 - 2 ** -53],
  ])(
    'is whole, finite, within its cap, and never falls: jitter %s',
    async (_jitter, jitter, unit) => {
      const stored = await delays(jitter, unit)
      for (const delayMs of stored.values()) {
        expect(Number.isSafeInteger(delayMs) && delayMs >= 0 && delayMs <= capMs).toBe(true)
      }
      const asked = numbers.map((n) => stored.get(n) ?? Number.NaN)
      expect(asked.toSorted((x, y) => x - y)).toEqual(asked)
      expect(asked).toEqual(numbers.map(() => (jitter ? Math.floor(unit * capMs) : capMs)))
    },
    60_000,
  )

  test('at the largest there is, is an instant that the store keeps, and one beyond it is refused', async () => {
    const all = fleet(open)
    const constant = (delayMs: number): Backoff => ({ kind: 'constant', delayMs })
    for (const delayMs of [durationMsMax + 1, Number.POSITIVE_INFINITY, Number.NaN, -1]) {
      expect(() => defineJob({ name: 'job', retry: { backoff: constant(delayMs) } })).toThrow(/backoff/)
    }
    const job = defineJob({
      name: 'job',
      retry: { backoff: constant(durationMsMax) },
      run: () => Promise.reject(new Error('again')),
    })
    const a = all.process({ jobs: [job] })
    await a.engine.start()
    await a.engine.enqueue(job, null, { id: 'x' })
    await all.clock.advance(100)
    expect((await all.database.job('x')).visibleAtMs).toBe(1_767_225_600_000 + durationMsMax)
    await all.clock.advance(600_000)
    expect(await all.database.job('x')).toMatchObject({ state: 'queued', attempt: 1 })
    await all.stop()
  })
})
