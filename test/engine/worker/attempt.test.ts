import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AttemptTimeout, InvalidArgument, PermanentFailure } from '../../../src/engine/errors.ts'
import type { AttemptContext } from '../../../src/engine/jobs/context.ts'
import { type JobOptions, defineJob } from '../../../src/engine/jobs/definition.ts'
import type { JobRecord } from '../../../src/engine/jobs/record.ts'
import { type Bench, bench, gate, never, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

const unhandled = trapUnhandledRejections()

type Run = (context: AttemptContext<unknown>) => unknown

async function running(run: Run, options: Partial<JobOptions<unknown, unknown>> = {}): Promise<Bench> {
  const job = defineJob({ name: 'job', ...options, run })
  const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.settle()
  return b
}

/** Runs the handler once and answers what became of the job; the engine must then be able to stop. */
async function once(run: Run, options: Partial<JobOptions<unknown, unknown>> = {}): Promise<JobRecord> {
  const b = await running(run, { retry: { maxAttempts: 1 }, ...options })
  const job = await b.database.job('x')
  await b.engine.stop()
  expect(b.clock.armed).toEqual([])
  return job
}

describe('a handler that throws', () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const unprintable = {
    toString: () => {
      throw new Error('no')
    },
  }
  const evil = Object.assign(new PermanentFailure('x'), { message: { toString: null } })
  const values: [string, unknown, string][] = [
    ['an Error', new TypeError('bad'), 'TypeError: bad'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a string', 'oops', 'oops'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object without a prototype', Object.create(null), 'a value that cannot be printed was thrown'],
    ['an object whose toString throws', unprintable, 'a value that cannot be printed was thrown'],
    ['a revoked Proxy', revoked.proxy, 'a value that cannot be printed was thrown'],
    ['NUL and lone surrogates (X01)', new Error('a\0b\ud800'), 'Error: a\uFFFDb\uFFFD'],
  ]
  it.each(values)('%s fails its job and nothing else', async (_what, value, message) => {
    expect(await once(() => Promise.reject(value as Error))).toMatchObject({
      state: 'failed',
      failures: 1,
      error: { code: 'HANDLER_ERROR', message },
    })
    expect(
      await once(() => {
        throw value
      }),
    ).toMatchObject({ state: 'failed', error: { message } })
  })

  it('one of our errors with a message that is none still fails its job', async () => {
    expect((await once(() => Promise.reject(evil))).state).toBe('failed')
  })

  it('has a very long message cut, and the cut marked', async () => {
    const { error } = await once(() => Promise.reject(new Error('😀'.repeat(9_000))))
    expect(error?.message).toMatch(/ \.\.\. \(truncated\)$/)
    expect(error?.message.isWellFormed()).toBe(true)
    expect(error?.message.length).toBeLessThan(8_300)
  })

  it('has its stack kept with the error, made storable and marked like the message (X01)', async () => {
    const plain = await once(() => Promise.reject(new TypeError('bad')))
    expect(plain.error?.stack).toMatch(/^TypeError: bad\n {4}at .*attempt\.test\.ts/)
    const hostile = new Error('a\0b')
    hostile.stack = 'at \0 \ud800 f'
    expect((await once(() => Promise.reject(hostile))).error?.stack).toBe('at \uFFFD \uFFFD f')
    const deep = Object.assign(new Error('deep'), { stack: '😀'.repeat(9_000) })
    const { error } = await once(() => Promise.reject(deep))
    expect(error?.stack).toMatch(/ \.\.\. \(truncated\)$/)
    expect(error?.stack?.isWellFormed()).toBe(true)
    expect(error?.stack?.length).toBeLessThan(8_300)
    const own = await once(() => Promise.reject(new PermanentFailure('never')))
    expect(own.error).toMatchObject({ code: 'PERMANENT_FAILURE', stack: expect.stringContaining('    at ') })
  })

  const stackless: [string, unknown][] = [
    ['a value that has none', 'oops'],
    ['nothing', undefined],
    ['an Error whose stack is none', Object.assign(new Error('x'), { stack: 5 })],
    ['an Error whose stack says what its message says', Object.assign(new Error('x'), { stack: 'Error: x' })],
    [
      'an Error whose stack cannot be read',
      Object.defineProperty(new Error('x'), 'stack', {
        get: () => {
          throw new Error('no')
        },
      }),
    ],
  ]
  it.each(stackless)('%s keeps no stack', async (_what, value) => {
    const { error } = await once(() => Promise.reject(value))
    expect(error).toMatchObject({ code: 'HANDLER_ERROR' })
    expect(error).not.toHaveProperty('stack')
  })

  it('is tried again after its backoff, exactly maxAttempts times (0.5, 5.4)', async () => {
    const b = await running(() => Promise.reject(new Error('again')), {
      retry: { backoff: { kind: 'constant', delayMs: 4_000 } },
    })
    await b.clock.advance(120_000)
    const ends = b.wire.calls.filter(({ call }) => call === 'jobs.settle').map(({ atMs }) => atMs)
    expect(ends).toHaveLength(3)
    expect((ends[1] as number) - (ends[0] as number)).toBeGreaterThanOrEqual(4_000)
    expect(await b.database.job('x')).toMatchObject({
      state: 'failed',
      attempt: 3,
      failures: 3,
      evictions: 0,
    })
    await b.engine.stop()
  })

  it('PermanentFailure is dead-lettered on the first attempt (5.6)', async () => {
    const job = await once(() => Promise.reject(new PermanentFailure('never mind')), {
      retry: { maxAttempts: 9 },
    })
    expect(job).toMatchObject({
      state: 'failed',
      attempt: 1,
      failures: 1,
      error: { code: 'PERMANENT_FAILURE', message: 'never mind' },
    })
  })
})

describe('a handler that returns', () => {
  it.each([
    ['undefined', undefined, null],
    ['null', null, 'null'],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['NUL (X01)', '\0', '"\\u0000"'],
  ])('%s has it stored', async (_what, value, result) => {
    expect(await once(() => value)).toMatchObject({ state: 'succeeded', result, error: null })
  })

  const cyclic: unknown[] = []
  cyclic.push(cyclic)
  const hostile = {
    toJSON: () => {
      throw Object.create(null)
    },
  }
  it.each([
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a cycle', cyclic],
    ['a value whose toJSON throws', hostile],
  ])('%s fails for good with RESULT_INVALID', async (_what, value) => {
    const job = await once(() => value, { retry: { maxAttempts: 9 } })
    expect(job).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'RESULT_INVALID' } })
  })
})

describe('an input', () => {
  it('that a new release no longer accepts fails for good, with INPUT_INVALID, without its handler (0.23)', async () => {
    const ran: unknown[] = []
    const strict = defineJob({
      name: 'job',
      input: z.object({ to: z.string() }),
      run: (context) => void ran.push(context),
    })
    const b = bench({ jobs: [strict], queues: { default: { concurrency: 5 } } })
    await b.engine.enqueue(defineJob<unknown>({ name: 'job' }), { to: 5 }, { id: 'x' })
    await b.engine.start()
    await b.clock.settle()
    expect(ran).toEqual([])
    expect(await b.database.job('x')).toMatchObject({
      state: 'failed',
      failures: 1,
      error: { code: 'INPUT_INVALID' },
    })
    await b.engine.stop()
  })
})

describe('a timeout (0.6)', () => {
  it('fires the signal and charges one failure, whatever the handler then returns', async () => {
    const reasons: unknown[] = []
    const job = await runTimed(async ({ signal, sleep }) => {
      await sleep(60_000).catch(() => {})
      reasons.push(signal.reason)
      return 'late'
    })
    expect(reasons[0]).toBeInstanceOf(AttemptTimeout)
    expect(job).toMatchObject({ state: 'failed', failures: 1, error: { code: 'TIMEOUT' }, result: null })
  })

  async function runTimed(run: Run): Promise<JobRecord> {
    const b = await running(run, { timeoutMs: 5_000, retry: { maxAttempts: 1 } })
    await b.clock.advance(5_000)
    const job = await b.database.job('x')
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
    return job
  }

  it('settles without a handler that ignores it, 10 s later, once; the slot leaks until it returns', async () => {
    const done = gate()
    const b = await running(() => done.promise, { timeoutMs: 5_000, retry: { maxAttempts: 1 } })
    await b.clock.advance(14_999)
    expect((await b.database.job('x')).state).toBe('running')
    await b.clock.advance(1)
    expect(b.of('attempt.abandoned')).toHaveLength(1)
    expect(await b.database.job('x')).toMatchObject({
      state: 'failed',
      failures: 1,
      error: { code: 'TIMEOUT' },
    })
    expect(b.engine.health().running?.worker).toMatchObject({ slotsUsed: 1, heartbeat: { claims: 0 } })
    done.fail(new Error('very late'))
    await b.clock.advance(100)
    expect(b.engine.health().running?.worker.slotsUsed).toBe(0)
    expect(b.wire.sent('jobs.settle')).toHaveLength(1)
    await b.engine.stop()
  })

  it('counts from the start of a handler that first keeps the loop to itself', async () => {
    const job = defineJob({
      name: 'job',
      timeoutMs: 5_000,
      run: ({ signal }) => {
        b.clock.sleep(3_000)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const b: Bench = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.advance(1_999)
    expect((await b.database.job('x')).failures).toBe(0)
    await b.clock.advance(1)
    expect(await b.database.job('x')).toMatchObject({ failures: 1, error: { code: 'TIMEOUT' } })
    await b.engine.stop()
  })

  it('is retried while budget is left', async () => {
    const b = await running(({ sleep }) => sleep(60_000), { timeoutMs: 5_000 })
    await b.clock.advance(60_000)
    const job = await b.database.job('x')
    expect(job).toMatchObject({ state: 'failed', attempt: 3, failures: 3 })
    // Its reason is made by the engine: a stack of that would tell nothing.
    expect(job.error).toEqual({ code: 'TIMEOUT', message: 'attempt of job x exceeded 5000 ms' })
    await b.engine.stop()
  })

  it('of 30 days fires then, and not before (E17)', async () => {
    const day = 86_400_000
    const b = await running(({ sleep }) => sleep(40 * day), {
      timeoutMs: 30 * day,
      retry: { maxAttempts: 1 },
    })
    // Asleep all the time but for one heartbeat now and then, so that the test need not fire 260,000 of them.
    for (let k = 0; k < 30; k++) await b.clock.freeze(day - 1)
    expect(b.of('attempt.ended')).toEqual([])
    await b.clock.freeze(30)
    expect(b.of('attempt.ended')).toMatchObject([{ end: 'failed' }])
    await b.engine.stop()
  }, 20_000)
})

describe('the context', () => {
  it('refuses to sleep for NaN or less than nothing (E17)', async () => {
    const errors: unknown[] = []
    await once(async ({ sleep }) => {
      for (const ms of [Number.NaN, -1]) await sleep(ms).catch((error: unknown) => errors.push(error))
    })
    expect(errors).toEqual([expect.any(InvalidArgument), expect.any(InvalidArgument)])
  })

  it('has fences that are ordered as text from attempt to attempt (0.24)', async () => {
    const fences: string[] = []
    const b = await running(
      ({ attempt }) => {
        fences.push(attempt.fence)
        throw new Error('again')
      },
      { retry: { maxAttempts: 12, backoff: { kind: 'constant', delayMs: 0 } } },
    )
    await b.clock.advance(60_000)
    expect(fences).toHaveLength(12)
    expect(fences.toSorted()).toEqual(fences)
    await b.engine.stop()
  })

  it('shows a signal that was fired before anybody looked', async () => {
    const done = gate()
    let context: AttemptContext<unknown> | null = null
    const b = await running((given) => ((context = given), done.promise), {
      timeoutMs: 1_000,
      retry: { maxAttempts: 1 },
    })
    await b.clock.advance(2_000)
    const { signal } = context as unknown as AttemptContext<unknown>
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toBeInstanceOf(AttemptTimeout)
    done.open()
    await b.engine.stop()
  })
})

describe('promises that nobody awaits (E31)', () => {
  it('of a handler are its own: its job has succeeded, its neighbours go on', async () => {
    const late = gate()
    const others = gate()
    const b = await running(() => {
      void late.promise
      return 'fine'
    })
    const other = defineJob({ name: 'job' })
    await b.engine.enqueueMany(Array.from({ length: 3 }, () => ({ job: other, input: null })))
    await b.clock.settle()
    const mine = new Error('detached')
    late.fail(mine)
    others.open()
    await b.clock.settle()
    expect(unhandled.splice(0)).toEqual([mine])
    expect((await b.database.job('x')).state).toBe('succeeded')
    expect(b.of('attempt.confirmed')).toHaveLength(4)
    await b.engine.stop()
  })

  it('are never left by the engine, also when a handler rejects after its attempt was given up', async () => {
    const done = gate()
    const b = await running(() => done.promise, { timeoutMs: 1_000, retry: { maxAttempts: 1 } })
    await b.clock.advance(12_000)
    await stopNow(b)
    done.fail(new Error('after all was over'))
    await b.clock.settle()
    expect(unhandled).toEqual([])
  })

  it('a handler that never settles holds only its slot', async () => {
    const b = await running(() => never(), { timeoutMs: 1_000, retry: { maxAttempts: 1 } })
    await b.clock.advance(60_000)
    expect(b.engine.health()).toMatchObject({ status: 'ok', running: { worker: { slotsUsed: 1 } } })
    await stopNow(b)
    expect(b.clock.armed).toEqual([])
  })
})
