// The end of an attempt by commit: what is sent once, what is confirmed until it is known, and what waits for it.
import { describe, expect, test } from 'vitest'
import type { AttemptContext } from '../../../src/engine/jobs/context.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, failure, gate, stopNow } from '../../support/bench.ts'

type Run = (context: AttemptContext<unknown>) => Promise<unknown>

/** One job on one engine, whose handler has begun. */
async function begun(run: Run, timeoutMs = 60_000): Promise<Bench> {
  const job = defineJob({
    name: 'job',
    retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 0 } },
    timeoutMs,
    run,
  })
  const all = bench({ jobs: [job], queues: { default: { concurrency: 1 } } })
  await all.engine.start()
  await all.engine.enqueue(job, {}, { id: 'a' })
  await all.clock.advance(0)
  return all
}

async function standing({ database }: Bench): Promise<object> {
  const { state, attempt, failures, evictions, result } = await database.job('a')
  return { state, attempt, failures, evictions, result }
}

const done = { state: 'succeeded', attempt: 1, failures: 0, evictions: 0, result: '7' }
const ends = (bench: Bench): string[] => bench.of('attempt.ended').map(({ end }) => end)

describe('commit', () => {
  test('ends the attempt, and whatever the handler does then changes nothing', async () => {
    let told: unknown
    const all = await begun(async ({ commit, checkpoint }) => {
      told = [await commit(() => 7), await failure(checkpoint('k', 1))]
      throw new Error('too late')
    })
    await all.clock.advance(1_000)
    expect(told).toEqual([7, expect.objectContaining({ code: 'LEASE_LOST' })])
    expect(await standing(all)).toEqual(done)
    expect(ends(all)).toEqual(['succeeded'])
    expect(all.wire.sent('jobs.settle')).toEqual([])
    await stopNow(all)
  })

  test('is asked of the store where its reply was lost, and never sent again (E09)', async () => {
    const go = gate()
    const all = await begun(async ({ commit }) => {
      await go.promise
      return commit(() => 7)
    })
    all.wire.next('commits.transact', 'lose-reply')
    go.open()
    await all.clock.advance(1_000)
    expect(await standing(all)).toEqual(done)
    expect(all.wire.sent('commits.transact').length).toBe(1)
    await stopNow(all)
  })

  test('that never arrived gives the job back uncharged, and the handler is told (E09)', async () => {
    const go = gate()
    const errors: unknown[] = []
    const all = await begun(async ({ commit }) => {
      await go.promise
      const committing = commit(() => 7)
      await committing.catch((error: unknown) => errors.push(error))
      return committing
    })
    all.wire.next('commits.transact', 'lose-request')
    go.open()
    await all.clock.advance(1_000)
    expect(errors).toEqual([expect.objectContaining({ code: 'COMMIT_FAILED' })])
    expect(await standing(all)).toEqual({ ...done, attempt: 2 })
    expect(ends(all)).toEqual(['released', 'succeeded'])
    await stopNow(all)
  })

  test('holds the attempt, its lease renewed, until the store says what became of it', async () => {
    const go = gate()
    const all = await begun(async ({ commit }) => {
      await go.promise
      return commit(() => 7)
    })
    all.wire.next('commits.transact', 'lose-reply')
    all.wire.down('lose-request')
    all.wire.next('commits.transact', 'lose-reply')
    go.open()
    await all.clock.advance(25_000)
    expect(ends(all)).toEqual([])
    all.wire.up()
    await all.clock.advance(5_000)
    expect(ends(all)).toEqual(['succeeded'])
    expect(await standing(all)).toEqual(done)
    await stopNow(all)
  })

  test('on its way when the time is over is waited for: what is committed first wins', async () => {
    const all = await begun(async ({ commit, sleep }) => {
      await sleep(900)
      return commit(() => 7)
    }, 1_000)
    all.wire.next('commits.transact', 'hang-reply')
    await all.clock.advance(2_000)
    all.wire.letGo()
    await all.clock.advance(20_000)
    expect(await standing(all)).toEqual(done)
    await stopNow(all)
  })

  test('after its time is refused with the timeout, which is charged', async () => {
    const errors: unknown[] = []
    const all = await begun(async ({ commit, attempt, sleep, signal }) => {
      if (attempt.number > 1) return 8
      await failure(sleep(5_000))
      errors.push(signal.reason, await failure(commit(() => 7)))
      return 7
    }, 1_000)
    await all.clock.advance(10_000)
    expect(errors[1]).toBe(errors[0])
    expect(await standing(all)).toMatchObject({ state: 'succeeded', failures: 1, result: '8' })
    await stopNow(all)
  })

  test('is done once an attempt, also by a handler that does not wait for it', async () => {
    let second: Promise<unknown> = Promise.resolve()
    const all = await begun(async ({ commit }) => {
      void commit(() => 7)
      second = failure(commit(() => 8))
      return 9
    })
    await all.clock.advance(1_000)
    expect(await second).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await standing(all)).toEqual(done)
    await stopNow(all)
  })

  test('that is rolled back by the handler leaves the attempt to it, and is its failure', async () => {
    const thrown = new RangeError('locked')
    const all = await begun(({ commit, attempt }) =>
      commit(() => {
        if (attempt.number === 1) throw thrown
        return 7
      }),
    )
    await all.clock.advance(1_000)
    expect(await standing(all)).toEqual({ ...done, attempt: 2, failures: 1 })
    expect(all.of('store.failed')).toEqual([])
    await stopNow(all)
  })

  test('an engine that stops waits for the outcome', async () => {
    const go = gate()
    const all = await begun(async ({ commit }) => {
      await go.promise
      return commit(() => 7)
    })
    all.wire.next('commits.transact', 'lose-reply')
    all.wire.next('commits.confirm', 'refuse', 'refuse')
    go.open()
    const stopped = all.engine.stop({ drainMs: 0 })
    await all.clock.advance(60_000)
    await stopped
    expect(await standing(all)).toEqual(done)
    expect(ends(all)).toEqual(['succeeded'])
  })
})
