// Waiting for what becomes of jobs.
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  InvalidArgument,
  JobCancelled,
  JobFailed,
  JobMissing,
  PermanentFailure,
  ResultTimeout,
} from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, database, failure, gate, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

const unhandled = trapUnhandledRejections()

const double = defineJob<number, number, { readonly twice: number }>({
  name: 'double',
  run: ({ input }) => ({ twice: 2 * input }),
})
const waits = defineJob<number>({
  name: 'waits',
  run: ({ input, sleep }) => sleep(input).then(() => 'waited'),
})
const fails = defineJob({
  name: 'fails',
  run: () => {
    throw Object.assign(new PermanentFailure('never'), { code: 'OUT_OF_STOCK' })
  },
})
const silent = defineJob({ name: 'silent', run: () => {} })

const jobs = [double, waits, fails, silent]
const queues = { default: { concurrency: 50 } }

async function worker(): Promise<Bench> {
  const b = bench({ jobs, queues })
  await b.engine.start()
  return b
}

/** A producer, and a worker in another process. */
async function apart(): Promise<{ producer: Bench; other: Bench }> {
  const clock = virtualClock()
  const base = database(clock)
  const other = bench({ clock, database: base, jobs, queues })
  await other.engine.start()
  return { producer: bench({ clock, database: base }), other }
}

const asked = ({ wire }: Bench): string[][] =>
  wire.sent('jobs.outcomes').map((params) => [...(params as { ids: string[] }).ids])

describe('a result', () => {
  test('is what the handler returned, by its type', async () => {
    const b = await worker()
    const job = await b.engine.enqueue(double, 21)
    expectTypeOf(job.result).returns.resolves.toEqualTypeOf<{ readonly twice: number }>()
    const result = job.result()
    await b.clock.advance(100)
    expect(await result).toEqual({ twice: 42 })
    const again = b.engine.result<{ twice: number }>(job.id)
    await b.clock.advance(0)
    expect((await again).twice).toBe(42)
    await b.engine.stop()
  })

  test('of nothing is undefined', async () => {
    const b = await worker()
    const { result } = await b.engine.enqueue(silent, null)
    const nothing = result()
    await b.clock.advance(100)
    expect(await nothing).toBeUndefined()
    await b.engine.stop()
  })

  test('is decoded by the codec', async () => {
    const codec = {
      encode: (text: string) => Buffer.from(text).toString('base64'),
      decode: (text: string) => Buffer.from(text, 'base64').toString(),
    }
    const b = bench({ jobs, queues, codec })
    await b.engine.start()
    const { result } = await b.engine.enqueue(double, 4)
    const answer = result()
    await b.clock.advance(100)
    expect(await answer).toEqual({ twice: 8 })
    await b.engine.stop()
  })

  test('that cannot be decoded is told to who waits for it, and to nobody who is asked for with it', async () => {
    const codec = {
      encode: (text: string) => text,
      decode: (text: string) => {
        if (text === '{"twice":2}') throw new Error('of another key')
        return text
      },
    }
    const b = bench({ jobs, queues, codec })
    await b.engine.start()
    const enqueued = await b.engine.enqueueMany([1, 2, 3].map((input) => ({ job: double, input })))
    await b.clock.advance(10_000)
    const told = Promise.allSettled(enqueued.map(({ result }) => result()))
    await b.clock.advance(100)
    expect(await told).toMatchObject([
      { status: 'rejected', reason: { code: 'CODEC_FAILED' } },
      { status: 'fulfilled', value: { twice: 4 } },
      { status: 'fulfilled', value: { twice: 6 } },
    ])
    await b.engine.stop()
  })

  test.each([
    ['failed', JobFailed, 'JOB_FAILED', 'job x has failed: OUT_OF_STOCK: never'],
    ['cancelled', JobCancelled, 'CANCELLED', 'job x was cancelled'],
    ['missing', JobMissing, 'JOB_MISSING', 'there is no job x'],
  ] as const)('of a job that is %s rejects, typed', async (how, type, code, message) => {
    const b = await worker()
    if (how === 'failed') await b.engine.enqueue(fails, null, { id: 'x' })
    if (how === 'cancelled') await b.engine.enqueue(double, 1, { id: 'x', delayMs: 60_000 })
    const result = failure(b.engine.result('x'))
    if (how === 'cancelled') await b.engine.cancel('x')
    await b.clock.advance(100)
    const error = (await result) as JobFailed
    expect(error).toBeInstanceOf(type)
    expect([error.code, error.message]).toEqual([code, message])
    expect(error.error?.code).toBe(how === 'failed' ? 'OUT_OF_STOCK' : undefined)
    await b.engine.stop()
  })

  test('is that of the attempt that counts: a failure that is retried ends nothing', async () => {
    const flaky = defineJob({
      name: 'flaky',
      retry: { maxAttempts: 3, backoff: { kind: 'constant', delayMs: 1_000 } },
      run: ({ attempt: { number } }) => {
        if (number < 3) throw new Error('again')
        return number
      },
    })
    const b = bench({ jobs: [flaky], queues })
    await b.engine.start()
    const { result } = await b.engine.enqueue(flaky, null)
    const third = result()
    await b.clock.advance(60_000)
    expect(await third).toBe(3)
    await b.engine.stop()
  })
})

describe('waiting', () => {
  test('for a job of this process ends when that does, whenever the store is asked next', async () => {
    const b = await worker()
    const { result } = await b.engine.enqueue(waits, 61_000)
    let ended = false
    void result().then(() => (ended = true))
    await b.clock.advance(60_990)
    expect(ended).toBe(false)
    await b.clock.advance(20)
    expect(ended).toBe(true)
    await b.engine.stop()
  })

  test('for a job of another process asks less and less often, and at most every 5 s', async () => {
    const { producer, other } = await apart()
    const { result } = await producer.engine.enqueue(waits, 60_000)
    const waited = result()
    await producer.clock.advance(1_000)
    expect(asked(producer).length).toBeLessThanOrEqual(6)
    await producer.clock.advance(59_000)
    expect(asked(producer).length).toBeLessThanOrEqual(20)
    await producer.clock.advance(5_000)
    expect(await waited).toBe('waited')
    await other.engine.stop()
  })

  test('of many is one question, of 100 jobs at most', async () => {
    const { producer, other } = await apart()
    const requests = Array.from({ length: 250 }, (_, k) => ({ job: double, input: k, id: `j${k}` }))
    const enqueued = await producer.engine.enqueueMany(requests)
    const results = Promise.all(enqueued.map((job) => job.result()))
    const twice = Promise.all(enqueued.map((job) => job.result()))
    await producer.clock.advance(0)
    expect(asked(producer).map((ids) => ids.length)).toEqual([100, 100, 50])
    await producer.clock.advance(60_000)
    expect(await results).toEqual(Array.from({ length: 250 }, (_, k) => ({ twice: 2 * k })))
    expect(await twice).toEqual(await results)
    expect(asked(producer).length).toBeLessThan(100)
    expect(producer.clock.armed.filter((label) => label.startsWith('result'))).toEqual([])
    await other.engine.stop()
  })

  test('is asked for anew for whoever came while a question was in flight (0.17)', async () => {
    const { producer, other } = await apart()
    producer.wire.next('jobs.outcomes', 'hang-reply')
    const early = failure(producer.engine.result('x', { timeoutMs: 60_000 }))
    await producer.clock.advance(0)
    const { created, result } = await producer.engine.enqueue(double, 21, { id: 'x' })
    expect(created).toBe(true)
    const own = result()
    producer.wire.letGo()
    expect(await early).toBeInstanceOf(JobMissing)
    await producer.clock.advance(60_000)
    expect(await own).toEqual({ twice: 42 })
    await other.engine.stop()
  })

  test('has an end: the deadline, after which the job goes on', async () => {
    const b = await worker()
    const job = await b.engine.enqueue(waits, 60_000)
    const result = failure(job.result({ timeoutMs: 1_000 }))
    await b.clock.advance(999)
    const pending = await Promise.race([result, Promise.resolve('pending')])
    expect(pending).toBe('pending')
    await b.clock.advance(1)
    expect(await result).toBeInstanceOf(ResultTimeout)
    expect((await b.database.job(job.id)).state).toBe('running')
    expect(b.clock.armed.filter((label) => label.startsWith('result'))).toEqual([])
    await stopNow(b)
  })

  test('or the signal', async () => {
    const b = await worker()
    const stop = new AbortController()
    const job = await b.engine.enqueue(waits, 60_000)
    const result = failure(job.result({ signal: stop.signal, timeoutMs: 50_000 }))
    await b.clock.advance(1_000)
    stop.abort(new Error('enough'))
    expect(await result).toEqual(new Error('enough'))
    expect(await failure(job.result({ signal: stop.signal }))).toEqual(new Error('enough'))
    expect(b.clock.armed.filter((label) => label.startsWith('result'))).toEqual([])
    await stopNow(b)
  })

  test('goes on through an outage, to its deadline', async () => {
    const { producer, other } = await apart()
    const [soon, late] = await producer.engine.enqueueMany([
      { job: double, input: 1 },
      { job: double, input: 2 },
    ])
    producer.wire.down()
    const missed = failure((soon as NonNullable<typeof soon>).result({ timeoutMs: 10_000 }))
    const result = (late as NonNullable<typeof late>).result({ timeoutMs: 600_000 })
    await producer.clock.advance(60_000)
    expect(await missed).toBeInstanceOf(ResultTimeout)
    producer.wire.up()
    await producer.clock.advance(10_000)
    expect(await result).toEqual({ twice: 4 })
    await other.engine.stop()
  })

  test('ends with what the store will never answer, and the next wait works', async () => {
    const b = await worker()
    const job = await b.engine.enqueue(double, 2)
    b.wire.next('jobs.outcomes', new InvalidArgument('never'))
    const result = failure(job.result())
    await b.clock.advance(0)
    expect(await result).toBeInstanceOf(InvalidArgument)
    const next = job.result()
    await b.clock.advance(100)
    expect(await next).toEqual({ twice: 4 })
    await b.engine.stop()
  })

  test('that nobody listens to yet rejects in silence (E31)', async () => {
    const b = await worker()
    const job = await b.engine.enqueue(fails, null)
    const early = job.result()
    const wrong = b.engine.result('', { timeoutMs: 0 })
    await b.clock.advance(1_000)
    expect(unhandled).toEqual([])
    await expect(early).rejects.toThrow(JobFailed)
    await expect(wrong).rejects.toThrow(InvalidArgument)
    await b.engine.stop()
  })

  test('of a look that was made while the store was asked is not forgotten', async () => {
    const { producer, other } = await apart()
    const done = gate()
    const held = defineJob({ name: 'held', run: () => done.promise })
    const both = bench({ clock: producer.clock, database: producer.database, jobs: [held], queues })
    await both.engine.start()
    const { result } = await both.engine.enqueue(held, null)
    const ended = result()
    await both.clock.advance(20_000)
    both.wire.next('jobs.outcomes', 'hang-reply')
    await both.clock.advance(5_000)
    // The store has answered that it runs; the answer is on its way while it ends.
    expect(both.wire.hanging).toBe(1)
    done.open()
    await both.clock.settle()
    both.wire.letGo()
    await both.clock.advance(1)
    expect(await ended).toBeUndefined()
    await both.engine.stop()
    await other.engine.stop()
  })
})

describe('what enqueue answers', () => {
  test('is compared, copied and written as { id, created }', async () => {
    const { engine } = bench()
    const job = await engine.enqueue(double, 1, { id: 'x' })
    expect(job).toEqual({ id: 'x', created: true })
    expect(JSON.stringify(job)).toBe('{"id":"x","created":true}')
    expect(Object.assign({}, job)).toStrictEqual({ id: 'x', created: true })
    expect(await engine.enqueueMany([{ job: double, input: 1, id: 'x' }])).toEqual([
      { id: 'x', created: false },
    ])
  })
})

describe('a result that cannot be stored', () => {
  const oddly = (result: unknown) => defineJob({ name: 'odd', run: () => result })
  test.each([
    ['a bigint', 1n],
    ['a function', () => 1],
    ['over a mebibyte', 'x'.repeat(1_048_575)],
    ['over a mebibyte in UTF-8', '€'.repeat(349_525)],
  ])('%s fails its job once, for good', async (_what, result) => {
    const job = oddly(result)
    const b = bench({ jobs: [job], queues })
    await b.engine.start()
    const enqueued = await b.engine.enqueue(job, null)
    const error = failure(enqueued.result())
    await b.clock.advance(1_000)
    expect(await error).toMatchObject({ code: 'JOB_FAILED', error: { code: 'RESULT_INVALID' } })
    expect(await b.database.job(enqueued.id)).toMatchObject({ state: 'failed', attempt: 1 })
    await b.engine.stop()
  })

  test('of a mebibyte is just kept', async () => {
    const job = oddly('x'.repeat(1_048_574))
    const b = bench({ jobs: [job], queues })
    await b.engine.start()
    const result = (await b.engine.enqueue(job, null)).result()
    await b.clock.advance(1_000)
    expect(await result).toHaveLength(1_048_574)
    await b.engine.stop()
  })

  test('in a commit rolls back, and fails the job likewise', async () => {
    const job = defineJob({ name: 'odd', run: ({ commit }) => commit(() => 'x'.repeat(1_048_575)) })
    const b = bench({ jobs: [job], queues })
    await b.engine.start()
    const error = failure((await b.engine.enqueue(job, null)).result())
    await b.clock.advance(1_000)
    expect(await error).toMatchObject({ code: 'JOB_FAILED', error: { code: 'RESULT_INVALID' } })
    await b.engine.stop()
  })
})
