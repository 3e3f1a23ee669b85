import { describe, expect, test } from 'vitest'
import { LeaseLost } from '../../src/engine/errors.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'
import { fleet, gated, rows, stores } from './support.ts'

trapUnhandledRejections()

const frozenMs = 60_000

describe.each(stores)('E14 on %s: a process that was suspended for two leases', (_name, open) => {
  /**
   * A process with a clock of its own, suspended while the world goes on: `counts` says whether its monotonic
   * clock counted the sleep, as some do. Its wall clock always jumps, and must not matter.
   */
  async function suspended(options: { readonly counts: boolean; readonly competitor: boolean }) {
    const all = fleet(open)
    const own = virtualClock({ wallOffsetMs: options.counts ? 3_600_000 : -3_600_000 })
    const work = gated()
    const a = all.process({ clock: own, jobs: [work.job] })
    await a.engine.start()
    await a.engine.enqueue(work.job, null, { id: 'x' })
    await own.settle()
    const theirs = gated()
    if (options.competitor) {
      const b = all.process({ jobs: [theirs.job] })
      await b.engine.start()
    }
    await all.clock.advance(frozenMs)
    const thaw = async (): Promise<void> => {
      if (options.counts) await own.freeze(frozenMs)
      else await own.settle()
    }
    /** Both clocks go on, as far as that takes. */
    const goOn = async (ms: number): Promise<void> => {
      for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
        await own.advance(1_000)
        await all.clock.advance(1_000)
      }
    }
    const stop = async (): Promise<void> => {
      const stopped = a.engine.stop({ drainMs: 0 })
      await own.advance(60_000)
      await stopped
      await all.stop()
    }
    return { ...all, a, own, work, theirs, thaw, goOn, stop }
  }

  test('wakes to a competitor, its clock having counted: told at once, and nothing of it is kept', async () => {
    const { database, theirs, work, a, thaw, stop } = await suspended({ counts: true, competitor: true })
    expect(theirs.starts).toHaveLength(1)
    const before = await rows(database)
    await thaw()
    expect(work.starts[0]?.signal.reason).toBeInstanceOf(LeaseLost)
    expect(a.of('attempt.lost')).toHaveLength(1)
    work.gates[0]?.open('stale')
    await thaw()
    expect(a.wire.sent('jobs.settle')).toEqual([])
    expect(await rows(database)).toEqual(before)
    await stop()
  })

  test('wakes to a competitor, its clock having stood still: its first write is refused, its next heartbeat tells it', async () => {
    const { database, theirs, work, a, thaw, goOn, stop } = await suspended({
      counts: false,
      competitor: true,
    })
    const before = await rows(database)
    await thaw()
    // It cannot know yet; the fence keeps what it writes from counting.
    expect(work.starts[0]?.attempt.leaseCertain).toBe(true)
    const refused = work.starts[0]?.progress(50).catch((error: unknown) => error)
    await thaw()
    expect(await refused).toBeInstanceOf(LeaseLost)
    expect(await rows(database)).toEqual(before)
    await goOn(10_000)
    expect(work.starts[0]?.signal.reason).toBeInstanceOf(LeaseLost)
    work.gates[0]?.open('stale')
    theirs.gates[0]?.open('theirs')
    await goOn(1_000)
    expect(a.of('attempt.confirmed')).toEqual([])
    expect(await database.job('x')).toMatchObject({ state: 'succeeded', attempt: 2, result: '"theirs"' })
    await stop()
  })

  test.each([true, false])(
    'wakes alone (its clock counted: %s): it renews at its epoch, and no attempt is charged',
    async (counts) => {
      const { database, work, thaw, goOn, stop, a } = await suspended({ counts, competitor: false })
      await thaw()
      await goOn(12_000)
      expect(await database.job('x')).toMatchObject({ state: 'running', epoch: 1, attempt: 1, evictions: 0 })
      expect(work.starts[0]?.signal.aborted).toBe(false)
      expect(work.starts[0]?.attempt.leaseCertain).toBe(true)
      work.gates[0]?.open('all the same')
      await goOn(1_000)
      expect(a.of('attempt.confirmed')).toMatchObject([{ settled: 'applied' }])
      expect(await database.job('x')).toMatchObject({
        state: 'succeeded',
        attempt: 1,
        failures: 0,
        evictions: 0,
        result: '"all the same"',
      })
      await stop()
    },
  )
})
