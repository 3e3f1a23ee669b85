import { describe, expect, it } from 'vitest'
import { AttemptTimeout, EngineStopping, JobCancelled } from '../../../src/engine/errors.ts'
import type { AttemptContext } from '../../../src/engine/jobs/context.ts'
import { type JobOptions, defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, gate, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

type Run = (context: AttemptContext<unknown>) => unknown

async function running(run: Run, options: Partial<JobOptions<unknown, unknown>> = {}): Promise<Bench> {
  const job = defineJob({ name: 'job', timeoutMs: 3_600_000, ...options, run })
  const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.settle()
  expect((await b.database.job('x')).state).toBe('running')
  return b
}

/** A handler that ends as its signal says, with what it is told by it. */
function obedient(reasons: unknown[] = []): Run {
  return ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason)
        reject(signal.reason)
      })
    })
}

describe('a cancel', () => {
  it('of a queued job ends it before it starts, and of none, or an ended one, says so (6.2)', async () => {
    const ran: string[] = []
    const job = defineJob({ name: 'job', run: ({ job: { id } }) => void ran.push(id) })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.enqueue(job, null, { id: 'x' })
    expect(await b.engine.cancel('x')).toBe('cancelled')
    expect(await b.engine.cancel('x')).toBe('cancelled')
    expect(await b.engine.cancel('nobody')).toBe(null)
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'y' })
    await b.clock.advance(60_000)
    expect(ran).toEqual(['y'])
    expect(await b.engine.cancel('y')).toBe('succeeded')
    expect(await b.database.job('x')).toMatchObject({ state: 'cancelled', attempt: 0 })
    await b.engine.stop()
  })

  it('of a running job fires its signal with JobCancelled at the next heartbeat, not before (6.1)', async () => {
    const reasons: unknown[] = []
    const b = await running(obedient(reasons))
    await b.clock.advance(3_000)
    expect(await b.engine.cancel('x')).toBe('requested')
    await b.clock.advance(6_999)
    expect(reasons).toEqual([])
    await b.clock.advance(1)
    expect(reasons).toEqual([expect.any(JobCancelled)])
    expect(await b.database.job('x')).toMatchObject({
      state: 'cancelled',
      attempt: 1,
      failures: 0,
      evictions: 0,
      error: null,
      lastSettle: { epoch: 1, kind: 'cancelled' },
    })
    expect(b.of('attempt.cancelling')).toMatchObject([{ job: 'x', epoch: 1 }])
    expect(b.of('attempt.ended')).toMatchObject([{ job: 'x', end: 'cancelled' }])
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })

  it('is told once, however often it is asked for and heard of', async () => {
    const done = gate()
    const reasons: unknown[] = []
    const b = await running(({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      return done.promise
    })
    for (let k = 0; k < 3; k++) {
      expect(await b.engine.cancel('x')).toBe('requested')
      await b.clock.advance(10_000)
    }
    expect(reasons).toHaveLength(1)
    expect(b.of('attempt.cancelling')).toHaveLength(1)
    done.open()
    await b.engine.stop()
  })

  it('that the handler ignores is lost to its success, and its result is kept (E23)', async () => {
    const done = gate<string>()
    const b = await running(() => done.promise)
    await b.engine.cancel('x')
    await b.clock.advance(30_000)
    done.open('all the same')
    await b.clock.settle()
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', result: '"all the same"' })
    expect(await b.engine.cancel('x')).toBe('succeeded')
    await b.engine.stop()
  })

  it('makes any error of the handler that follows its signal a cancel, uncharged', async () => {
    const b = await running(async ({ sleep }) => {
      await sleep(1e9).catch(() => {})
      throw new Error('clean-up failed')
    })
    await b.engine.cancel('x')
    await b.clock.advance(10_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'cancelled', failures: 0, error: null })
    await b.engine.stop()
  })

  it('ends an attempt that fails before it is told as cancelled, and nothing is tried again (6.2)', async () => {
    const done = gate()
    const b = await running(() => done.promise)
    await b.engine.cancel('x')
    done.fail(new Error('mine'))
    await b.clock.advance(60_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'cancelled', attempt: 1, failures: 1 })
    await b.engine.stop()
  })

  it('reaches a job whose worker died when its lease is reclaimed, and it does not come back (6.2)', async () => {
    const b = await running(obedient())
    const other = bench({ clock: b.clock, database: b.database })
    await other.engine.start()
    b.wire.down('lose-request')
    await other.engine.cancel('x')
    await b.clock.advance(60_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'cancelled', evictions: 1, epoch: 2 })
    await Promise.all([stopNow(b), other.engine.stop()])
  })

  it('before the handler starts, while its lease is uncertain, ends it without its handler (6.2)', async () => {
    const ran: unknown[] = []
    const job = defineJob({ name: 'job', run: () => void ran.push(1) })
    const b = bench({ bare: true, jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.enqueue(job, null, { id: 'x' })
    b.wire.next('claims.claim', 'hang-reply')
    await b.engine.start()
    b.wire.down('refuse')
    await b.clock.advance(31_000)
    b.wire.letGo()
    await b.clock.settle()
    expect(await b.database.raw.jobs.requestCancel({ id: 'x' })).toEqual({ kind: 'requested' })
    b.wire.up()
    await b.clock.advance(2_000)
    expect(ran).toEqual([])
    const told = b.events.map(({ type }) => type).filter((type) => type.startsWith('attempt.'))
    expect(told).toEqual(['attempt.certain', 'attempt.cancelling', 'attempt.ended', 'attempt.confirmed'])
    expect(await b.database.job('x')).toMatchObject({ state: 'cancelled', attempt: 1, failures: 0 })
    expect(b.engine.health().running?.worker).toMatchObject({
      running: 0,
      heartbeat: { claims: 0, uncertain: 0 },
    })
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })

  it('is not told on a renewal whose answer came after the lease may have lapsed again', async () => {
    const reasons: unknown[] = []
    const b = await running(obedient(reasons))
    await b.engine.cancel('x')
    b.wire.next('claims.renew', ...Array.from({ length: 20 }, () => 'lose-request' as const))
    await b.clock.advance(29_000)
    expect(reasons).toEqual([])
    await stopNow(b)
  })
})

describe('of several reasons to end (6.4)', () => {
  it('a timeout goes before a cancel that came first: charged, and cancelled by the store', async () => {
    const signals: unknown[] = []
    const b = await running(
      async ({ signal, sleep }) => {
        await sleep(1e9).catch(() => {})
        signals.push(signal.reason)
        await new Promise<void>((resolve) => b.clock.timer(20_000, 'slow to end', resolve))
        return 'late'
      },
      { timeoutMs: 15_000 },
    )
    await b.engine.cancel('x')
    await b.clock.advance(60_000)
    expect(signals).toEqual([expect.any(JobCancelled)])
    expect(await b.database.job('x')).toMatchObject({
      state: 'cancelled',
      failures: 1,
      error: { code: 'TIMEOUT' },
      result: null,
    })
    await b.engine.stop()
  })

  it('a cancel that comes after the timeout changes nothing', async () => {
    const signals: unknown[] = []
    const b = await running(
      async ({ signal, sleep }) => {
        await sleep(1e9).catch(() => {})
        await new Promise<void>((resolve) => b.clock.timer(8_000, 'slow to end', resolve))
        signals.push(signal.reason)
      },
      { timeoutMs: 5_000, retry: { maxAttempts: 1 } },
    )
    await b.clock.advance(5_000)
    await b.engine.cancel('x')
    await b.clock.advance(8_000)
    expect(signals).toEqual([expect.any(AttemptTimeout)])
    expect(b.of('attempt.cancelling')).toEqual([])
    expect(await b.database.job('x')).toMatchObject({ state: 'failed', error: { code: 'TIMEOUT' } })
    await b.engine.stop()
  })

  it('a stop goes before a cancel that came first: given back, and cancelled by the store', async () => {
    const b = await running(async ({ sleep }) => {
      await sleep(1e9).catch(() => {})
      await new Promise<void>((resolve) => b.clock.timer(5_000, 'slow to end', resolve))
      throw new Error('interrupted')
    })
    await b.engine.cancel('x')
    await b.clock.advance(10_000)
    const stopping = b.engine.stop({ drainMs: 0 })
    await b.clock.advance(6_000)
    await stopping
    expect(b.of('attempt.ended')).toMatchObject([{ end: 'released' }])
    expect(await b.database.job('x')).toMatchObject({ state: 'cancelled', failures: 0 })
    expect(b.clock.armed).toEqual([])
  })

  it('a stop that came first keeps its reason, though a heartbeat then tells of the cancel', async () => {
    const signals: unknown[] = []
    const b = await running(async ({ signal, sleep }) => {
      await sleep(1e9).catch(() => {})
      await new Promise<void>((resolve) => b.clock.timer(9_000, 'slow to end', resolve))
      signals.push(signal.reason)
      throw signal.reason
    })
    await b.clock.advance(5_000)
    const stopping = b.engine.stop({ drainMs: 0 })
    await b.clock.settle()
    await b.engine.cancel('x')
    await b.clock.advance(10_000)
    await stopping
    expect(signals).toEqual([expect.any(EngineStopping)])
    expect(b.of('attempt.cancelling')).toEqual([])
    expect((await b.database.job('x')).state).toBe('cancelled')
  })

  it('a timeout during a stop is charged, not given back', async () => {
    const b = await running(
      async ({ sleep }) => {
        await sleep(1e9).catch(() => {})
        await new Promise<void>((resolve) => b.clock.timer(8_000, 'slow to end', resolve))
        throw new Error('interrupted')
      },
      { timeoutMs: 5_000 },
    )
    await b.clock.advance(2_000)
    const stopping = b.engine.stop({ drainMs: 0 })
    await b.clock.advance(10_000)
    await stopping
    expect(await b.database.job('x')).toMatchObject({
      state: 'queued',
      failures: 1,
      error: { code: 'TIMEOUT' },
    })
    expect(b.clock.armed).toEqual([])
  })
})
