import { describe, expect, it } from 'vitest'
import { InvalidArgument, LeaseLost, StoreUnavailable } from '../../../src/engine/errors.ts'
import type { AttemptContext } from '../../../src/engine/jobs/context.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, failure, gate, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

/** A running attempt in the hands of the test. */
async function attempt(
  bare = false,
): Promise<{ b: Bench; context: AttemptContext<unknown>; end: () => void }> {
  const done = gate()
  const contexts: AttemptContext<unknown>[] = []
  const job = defineJob({
    name: 'job',
    run: (context) => {
      contexts.push(context)
      return done.promise
    },
  })
  const b = bench({ bare, jobs: [job], queues: { default: { concurrency: 5 } } })
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.settle()
  return { b, context: contexts[0] as AttemptContext<unknown>, end: () => done.open() }
}

/** Lets another attempt run the job, while its engine believes that it holds it. */
async function takeOver({ database }: Bench): Promise<void> {
  for (let k = 0; k < 7; k++) {
    await database.raw.watch.move({ lastReplyMs: database.nowMs(), sinceReplyMs: 0, maxAgeMs: 5_000 })
    database.jump(5_000)
  }
  expect((await database.raw.jobs.reclaim({ limit: 9 })).jobs).toHaveLength(1)
}

describe('progress', () => {
  it('is kept with its phase, and is gone when the next attempt begins (0.24)', async () => {
    let fail = true
    const seen: unknown[] = []
    const job = defineJob({
      name: 'job',
      run: async ({ progress }) => {
        seen.push((await b.database.job('x')).progress)
        await progress(25)
        seen.push((await b.database.job('x')).progress)
        await progress(50.5, 'half')
        if (fail) throw new Error('again')
      },
    })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.settle()
    expect((await b.database.job('x')).progress).toEqual({ percent: 50.5, phase: 'half' })
    fail = false
    await b.clock.advance(60_000)
    const first = [null, { percent: 25, phase: null }]
    expect(seen).toEqual([...first, ...first])
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', progress: { percent: 50.5 } })
    await b.engine.stop()
  })

  it('is 0 to 100, and a phase is made storable (X01)', async () => {
    const { b, context, end } = await attempt()
    for (const percent of [Number.NaN, -1, 100.1, Number.POSITIVE_INFINITY]) {
      await expect(context.progress(percent)).rejects.toThrow(InvalidArgument)
    }
    expect(b.wire.sent('jobs.progress')).toEqual([])
    await context.progress(-0, 'a\0\ud800')
    expect((await b.database.job('x')).progress).toEqual({ percent: 0, phase: 'a\uFFFD\uFFFD' })
    await context.progress(100)
    end()
    await b.engine.stop()
  })

  it('of an attempt that was taken over throws LeaseLost, and writes nothing (0.13)', async () => {
    const { b, context, end } = await attempt()
    await takeOver(b)
    const before = await b.database.job('x')
    await expect(context.progress(1)).rejects.toThrow(LeaseLost)
    expect(await b.database.job('x')).toEqual(before)
    end()
    await stopNow(b)
  })

  it('that a handler did not wait for comes too late when it has returned, and says so', async () => {
    const { b, context, end } = await attempt()
    end()
    await b.clock.settle()
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded' })
    await expect(context.progress(100)).rejects.toThrow(
      'attempt 1 of job x may write nothing more: it has ended, or the job was taken over',
    )
    await stopNow(b)
  })
})

describe('sleep', () => {
  it('of what goes on after its handler has returned keeps no process alive', async () => {
    const { b, context, end } = await attempt()
    end()
    await b.clock.settle()
    await stopNow(b)
    void context.sleep(1_000)
    expect(b.clock.armed).toEqual([])
  })
})

describe('a checkpoint', () => {
  it('survives the attempt, so that the next one goes on from it (0.24, 27.42)', async () => {
    const steps: number[] = []
    const job = defineJob({
      name: 'job',
      run: async ({ checkpoint, attempt: { number } }) => {
        const from = ((await checkpoint('at')) as number | undefined) ?? 0
        for (let at = from; at < 6; at++) {
          steps.push(at)
          await checkpoint('at', at + 1)
          if (number < 3 && at % 2 === 1) throw new Error('again')
        }
        return checkpoint('at')
      },
    })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.advance(120_000)
    expect(steps).toEqual([0, 1, 2, 3, 4, 5])
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 3, result: '6' })
    await b.engine.stop()
  })

  it('is read from the store once, at the first look, and shows what was kept since', async () => {
    const { b, context, end } = await attempt()
    expect(b.wire.sent('jobs.checkpoints')).toEqual([])
    await context.checkpoint('a', { n: 1 })
    expect(b.wire.sent('jobs.checkpoints')).toEqual([])
    expect(await Promise.all(['a', 'b', 'a'].map((key) => context.checkpoint(key)))).toEqual([
      { n: 1 },
      undefined,
      { n: 1 },
    ])
    await context.checkpoint('b', null)
    expect(await context.checkpoint('b')).toBe(null)
    await context.checkpoint('a', 2)
    expect(await context.checkpoint('a')).toBe(2)
    expect(b.wire.sent('jobs.checkpoints')).toEqual([{ id: 'x' }])
    end()
    await b.engine.stop()
  })

  it('kept while the first look is under way is not missed', async () => {
    const { b, context, end } = await attempt(true)
    b.wire.next('jobs.checkpoints', 'hang-reply')
    const looking = context.checkpoint('a')
    await b.clock.settle()
    const keeping = context.checkpoint('a', 1)
    await b.clock.settle()
    b.wire.letGo()
    await Promise.all([looking, keeping])
    expect(await context.checkpoint('a')).toBe(1)
    end()
    await b.engine.stop()
  })

  it('whose reading failed is read again at the next look, and may be kept meanwhile', async () => {
    const { b, context, end } = await attempt(true)
    b.wire.next('jobs.checkpoints', 'refuse')
    const looking = failure(context.checkpoint('a'))
    await context.checkpoint('a', 1)
    expect(await looking).toBeInstanceOf(StoreUnavailable)
    expect(await context.checkpoint('a')).toBe(1)
    expect(await context.checkpoint('b')).toBe(undefined)
    expect(b.wire.sent('jobs.checkpoints')).toHaveLength(2)
    end()
    await b.engine.stop()
  })

  it('of undefined, or under a key that cannot be, is refused before it is sent', async () => {
    const { b, context, end } = await attempt()
    await expect(context.checkpoint('a', undefined)).rejects.toThrow(/undefined has no JSON form; keep null/)
    for (const key of ['', 'a\0', '\ud800', 'x'.repeat(513)]) {
      await expect(context.checkpoint(key, 1)).rejects.toThrow(InvalidArgument)
      await expect(context.checkpoint(key)).rejects.toThrow(InvalidArgument)
    }
    await expect(context.checkpoint('a', 1n)).rejects.toThrow(TypeError)
    expect(b.wire.sent('jobs.checkpoint')).toEqual([])
    end()
    await b.engine.stop()
  })

  it('of an attempt that was taken over throws LeaseLost, and neither it nor this attempt sees it (0.13)', async () => {
    const { b, context, end } = await attempt()
    expect(await context.checkpoint('a')).toBe(undefined)
    await takeOver(b)
    await expect(context.checkpoint('a', 1)).rejects.toThrow(LeaseLost)
    expect(await context.checkpoint('a')).toBe(undefined)
    expect(await b.database.raw.jobs.checkpoints({ id: 'x' })).toEqual([])
    end()
    await stopNow(b)
  })
})

describe('metadata and trace context', () => {
  it('come to the handler as they were given, and are empty where none were', async () => {
    const seen: unknown[] = []
    const job = defineJob({
      name: 'job',
      run: ({ job: { metadata, traceparent } }) => void seen.push(metadata, traceparent),
    })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 1 } } })
    await b.engine.start()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const metadata = { tenant: 'a', odd: '\0\ud800', ['__proto__']: 'x' }
    await b.engine.enqueue(job, null, { metadata, traceparent })
    await b.clock.settle()
    await b.engine.enqueue(job, null)
    await b.clock.settle()
    expect(seen).toEqual([metadata, traceparent, {}, null])
    await b.engine.stop()
  })
})
