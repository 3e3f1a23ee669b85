import { describe, expect, it } from 'vitest'
import { LeaseLost, LeaseUncertain } from '../../../src/engine/errors.ts'
import type { AttemptContext } from '../../../src/engine/jobs/context.ts'
import { type HandledJob, type JobOptions, defineJob } from '../../../src/engine/jobs/definition.ts'
import type { RenewParams } from '../../../src/engine/ports/store.ts'
import { type Bench, type BenchOptions, type Gate, bench, gate, never, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const tight = { sweepMs: 1_000, heartbeatRetryMs: 500, replyMs: 100 }
const beats = ({ wire }: Bench): number[] =>
  wire.calls.filter(({ call }) => call === 'claims.renew').map(({ atMs }) => atMs)

/** A job that runs until its gate opens, and keeps the context that it got. */
function held(options: Partial<JobOptions<unknown, unknown>> = {}): {
  readonly job: HandledJob
  readonly done: Gate<unknown>
  readonly seen: AttemptContext<unknown>[]
} {
  const done = gate<unknown>()
  const seen: AttemptContext<unknown>[] = []
  const run = (context: AttemptContext<unknown>): Promise<unknown> => {
    seen.push(context)
    return done.promise
  }
  return { job: defineJob({ name: 'held', timeoutMs: 86_400_000, ...options, run }), done, seen }
}

async function running(job: HandledJob, options: BenchOptions = {}): Promise<Bench> {
  const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } }, ...options })
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.settle()
  return b
}

/** Takes the job away, as a sweep would, and lets another worker claim it. */
async function takeOver({ database, clock }: Bench): Promise<void> {
  const { raw } = database
  await clock.settle()
  for (let k = 0; k < 7; k++) {
    const lastReplyMs = database.nowMs()
    await raw.watch.move({ lastReplyMs, sinceReplyMs: 0, maxAgeMs: 5_000 })
    database.jump(5_000)
  }
  expect((await raw.jobs.reclaim({ limit: 9 })).jobs.map(({ id }) => id)).toEqual(['x'])
  database.jump(60_000)
  const queues = [{ queue: 'default', limit: 1 }]
  await raw.claims.claim({ token: 'other', worker: 'other', limit: 1, queues, kinds: ['held'], solo: 'take' })
  expect(await database.job('x')).toMatchObject({ state: 'running', token: 'other' })
}

describe('heartbeats', () => {
  it('come every 10 s and keep the lease (0.3)', async () => {
    const { job, done } = held()
    const b = await running(job)
    await b.clock.advance(35_000)
    expect(beats(b)).toEqual([10_000, 20_000, 30_000])
    const [lease] = (await b.database.raw.dump()).leases
    expect(lease?.expiresAtMs).toBe(b.database.nowMs() - 5_000 + 30_000)
    done.open(null)
    await b.engine.stop()
  })

  it('come at a third of the shortest lease held, also once such a job joins while a beat is on its way', async () => {
    const { job, done } = held()
    const b = await running(job, {
      bare: true,
      intervals: { ...tight, sweepMs: 500 },
    })
    b.wire.next('claims.renew', 'hang-reply')
    await b.clock.advance(10_000)
    await b.engine.enqueue(job, null, { leaseTtlMs: 12_000 })
    await b.clock.settle()
    b.wire.letGo()
    await b.clock.advance(8_000)
    expect(beats(b)).toEqual([10_000, 14_000, 18_000])
    done.open(null)
    await b.engine.stop()
  })

  it('name a claim from its sending on, and until its last settle is confirmed (0.10)', async () => {
    const { job, done } = held()
    const b = bench({ bare: true, jobs: [job], queues: { default: { concurrency: 5 } } })
    b.wire.next('claims.claim', 'hang')
    await b.engine.start()
    await b.clock.advance(10_000)
    const token = `${b.engine.health().running?.identity}.1`
    expect(b.wire.sent('claims.renew')).toEqual([
      { worker: b.engine.health().running?.identity, tokens: [token] },
    ])
    await b.engine.enqueue(job, null)
    b.wire.letGo()
    await b.clock.settle()
    b.wire.next('jobs.settle', 'hang-reply')
    done.open(null)
    await b.clock.advance(10_000)
    expect((b.wire.sent('claims.renew').at(-1) as RenewParams).tokens).toContain(token)
    b.wire.letGo()
    await b.clock.settle()
    expect(b.engine.health().running?.worker.heartbeat.claims).toBe(0)
    const before = beats(b).length
    await b.clock.advance(9_000)
    expect(beats(b)).toHaveLength(before)
    await b.engine.stop()
  })

  it('that fail come again after 2 s (0.3, 8.6)', async () => {
    const { job, done } = held()
    const b = await running(job, { bare: true })
    b.wire.next('claims.renew', 'refuse', 'lose-request', new Error('broken'))
    await b.clock.advance(26_000)
    expect(beats(b)).toEqual([10_000, 12_000, 14_000, 16_000, 26_000])
    done.open(null)
    await b.engine.stop()
  })

  it('do not judge an attempt whose settle was sent (0.10)', async () => {
    const { job, done } = held()
    const b = await running(job, { bare: true })
    b.wire.next('claims.renew', 'hang')
    await b.clock.advance(10_000)
    b.wire.next('jobs.settle', 'hang-reply')
    done.open('kept')
    await b.clock.settle()
    // The renewal arrives after the settle: the job is no longer held, and that is no loss.
    b.wire.letGo()
    await b.clock.settle()
    expect(b.of('attempt.lost')).toEqual([])
    expect(b.of('attempt.confirmed')).toMatchObject([{ job: 'x', settled: 'applied' }])
    await b.engine.stop()
  })

  it('do not judge an attempt that began after they were sent', async () => {
    const { job, done } = held()
    const b = await running(job, { bare: true })
    b.wire.next('claims.renew', 'hang-reply')
    await b.clock.advance(10_000)
    await b.engine.enqueue(job, null, { id: 'y' })
    await b.clock.settle()
    b.wire.letGo()
    await b.clock.advance(1_000)
    expect(b.of('attempt.lost')).toEqual([])
    done.open(null)
    await b.engine.stop()
  })
})

describe('an attempt that lost its lease', () => {
  it('has its signal fired with LeaseLost at the next heartbeat, and is discarded (3.6, 3.7)', async () => {
    const { job, done, seen } = held()
    const b = await running(job)
    await takeOver(b)
    await b.clock.advance(10_000)
    expect(seen[0]?.signal.reason).toBeInstanceOf(LeaseLost)
    done.open('late')
    await b.clock.settle()
    expect(b.wire.sent('jobs.settle')).toEqual([])
    expect(b.of('attempt.lost')).toMatchObject([{ job: 'x', epoch: 1 }])
    expect(b.of('attempt.ended')).toEqual([])
    expect(await b.database.job('x')).toMatchObject({ state: 'running', token: 'other', result: null })
    expect(b.engine.health().running?.worker).toMatchObject({ running: 0, heartbeat: { claims: 0 } })
    await b.engine.stop()
  })

  it('is told by its settle when it ends before the next heartbeat (E01)', async () => {
    const { job, done } = held()
    const b = await running(job)
    await takeOver(b)
    const before = await b.database.job('x')
    done.open('late')
    await b.clock.settle()
    expect(b.of('attempt.confirmed')).toMatchObject([{ job: 'x', settled: 'lost' }])
    expect(await b.database.job('x')).toEqual(before)
    await b.engine.stop()
  })

  it('is not lost by a heartbeat that fails, however often (3.7)', async () => {
    const { job, done, seen } = held()
    const b = await running(job)
    b.wire.down('lose-request')
    await b.clock.advance(3_600_000)
    expect(seen[0]?.signal.aborted).toBe(false)
    b.wire.up()
    done.open('kept')
    await b.clock.advance(10_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1, evictions: 0 })
    await b.engine.stop()
  })
})

describe('an attempt whose lease cannot be vouched for (0.21)', () => {
  it('becomes uncertain one lease after the last renewal was sent, runs on, and is certain again', async () => {
    const { job, done, seen } = held()
    const b = await running(job)
    await b.clock.advance(10_000)
    b.wire.down('lose-request')
    await b.clock.advance(29_999)
    expect(seen[0]?.attempt.leaseCertain).toBe(true)
    await b.clock.advance(1)
    expect(seen[0]?.attempt.leaseCertain).toBe(false)
    expect(b.of('attempt.uncertain')).toMatchObject([{ job: 'x', epoch: 1 }])
    expect(seen[0]?.signal.aborted).toBe(false)
    expect(b.engine.health()).toMatchObject({
      status: 'degraded',
      running: { worker: { heartbeat: { uncertain: 1 } } },
    })
    b.wire.up()
    await b.clock.advance(10_000)
    expect(seen[0]?.attempt.leaseCertain).toBe(true)
    expect(b.of('attempt.certain')).toHaveLength(1)
    expect(b.engine.health().status).toBe('ok')
    done.open('fine')
    await b.clock.settle()
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1, result: '"fine"' })
    await b.engine.stop()
  })

  it('keeps its engine from claiming', async () => {
    const { job, done } = held()
    const b = await running(job)
    b.wire.next('claims.renew', ...Array.from({ length: 60 }, () => 'lose-request' as const))
    await b.clock.advance(30_000)
    expect(b.engine.health().running?.worker.heartbeat.uncertain).toBe(1)
    const asked = b.wire.sent('claims.claim').length
    await b.engine.enqueue(job, null, { id: 'y' })
    await b.clock.advance(1_000)
    expect(b.wire.sent('claims.claim')).toHaveLength(asked)
    b.wire.next('claims.renew')
    await b.clock.advance(120_000)
    expect((await b.database.job('y')).state).toBe('running')
    done.open(null)
    await b.engine.stop()
  })

  it('settles what it finished meanwhile, if it still holds the lease', async () => {
    const { job, done } = held()
    const b = await running(job)
    b.wire.down('refuse')
    await b.clock.advance(60_000)
    done.open('meanwhile')
    await b.clock.advance(60_000)
    b.wire.up()
    await b.clock.advance(10_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1, result: '"meanwhile"' })
    await b.engine.stop()
  })

  it('is discarded when it turns out that the lease was lost', async () => {
    const { job, done, seen } = held()
    const b = await running(job)
    b.wire.down('refuse')
    await b.clock.advance(60_000)
    await takeOver(b)
    b.wire.up()
    await b.clock.advance(10_000)
    expect(seen[0]?.signal.reason).toBeInstanceOf(LeaseLost)
    done.fail(new Error('late'))
    await b.clock.advance(1_000)
    expect(await b.database.job('x')).toMatchObject({ token: 'other', failures: 0 })
    expect(b.engine.health().status).toBe('ok')
    await b.engine.stop()
  })

  it("has its signal fired under 'abort', and is given back uncharged when it ends by that", async () => {
    const { job, done, seen } = held({ onUncertainLease: 'abort' })
    const b = await running(job)
    b.wire.down('refuse')
    await b.clock.advance(30_000)
    expect(seen[0]?.signal.reason).toBeInstanceOf(LeaseUncertain)
    done.fail(seen[0]?.signal.reason)
    b.wire.up()
    await b.clock.settle()
    const released = { id: 'x', epoch: 1, outcome: { kind: 'released', delayMs: 0 } }
    expect(b.wire.sent('jobs.settle').at(-1)).toMatchObject({ settlements: [released] })
    await stopNow(b)
  })

  it("keeps what it finished in spite of its signal under 'abort'", async () => {
    const { job, done } = held({ onUncertainLease: 'abort' })
    const b = await running(job)
    b.wire.down('refuse')
    await b.clock.advance(40_000)
    done.open('done')
    b.wire.up()
    await b.clock.advance(10_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', result: '"done"' })
    await b.engine.stop()
  })

  it('does not start its handler until a renewal vouches for it, however late the claim was answered', async () => {
    const { job, done, seen } = held()
    const b = bench({ bare: true, jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.enqueue(job, null, { id: 'x' })
    b.wire.next('claims.claim', 'hang-reply')
    await b.engine.start()
    b.wire.down('refuse')
    await b.clock.advance(31_000)
    b.wire.letGo()
    await b.clock.settle()
    expect(seen).toEqual([])
    expect(b.engine.health().running?.worker.heartbeat.uncertain).toBe(1)
    b.wire.up()
    await b.clock.advance(2_000)
    expect(seen).toHaveLength(1)
    done.open(null)
    await b.engine.stop()
  })

  it('does not start its handler on a renewal whose answer came after the lease may have lapsed again', async () => {
    const { job, done, seen } = held()
    const b = bench({ bare: true, jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.enqueue(job, null, { id: 'x' })
    b.wire.next('claims.claim', 'hang-reply')
    await b.engine.start()
    b.wire.down('refuse')
    await b.clock.advance(31_000)
    b.wire.letGo()
    await b.clock.settle()
    b.wire.up()
    b.wire.next('claims.renew', 'hang-reply')
    await b.clock.advance(2_000)
    expect(b.wire.hanging).toBe(1)
    b.wire.next('claims.renew', 'hang-reply')
    await b.clock.advance(31_000)
    b.wire.letGo()
    await b.clock.settle()
    expect(seen).toEqual([])
    expect(b.wire.hanging).toBe(1)
    b.wire.letGo()
    await b.clock.settle()
    expect(seen).toHaveLength(1)
    done.open(null)
    await b.engine.stop()
  })

  it('that stood still for two leases is judged by the store at once: held without a competitor (E14)', async () => {
    const { job, done } = held()
    const b = await running(job)
    await b.clock.freeze(60_000)
    done.open('woke')
    await b.clock.advance(100)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1, result: '"woke"' })
    await b.engine.stop()
  })

  it('that stood still for two leases is judged by the store at once: lost to a competitor (E14)', async () => {
    const { job, seen } = held()
    const b = await running(job)
    await takeOver(b)
    await b.clock.freeze(60_000)
    expect(seen[0]?.signal.reason).toBeInstanceOf(LeaseLost)
    expect(await b.database.job('x')).toMatchObject({ token: 'other' })
    await stopNow(b)
  })
})

describe('an engine restarted under the same name (E07)', () => {
  it('neither renews nor recovers what its predecessor held, and runs it again once it is reclaimed', async () => {
    const first = bench({
      jobs: [defineJob({ name: 'held', run: () => never() })],
      queues: { default: { concurrency: 5 } },
    })
    await first.engine.start()
    await first.engine.enqueue(defineJob({ name: 'held' }), null, { id: 'x' })
    await first.clock.settle()
    // Its process hangs for good: nothing of it reaches the store any more.
    first.wire.down('lose-request')
    const runs: number[] = []
    const again = defineJob({ name: 'held', run: ({ attempt }) => void runs.push(attempt.number) })
    const second = bench({
      clock: first.clock,
      database: first.database,
      jobs: [again],
      queues: { default: { concurrency: 5 } },
    })
    await second.engine.start()
    expect(second.engine.health().running?.identity).not.toBe(first.engine.health().running?.identity)
    await second.clock.advance(29_000)
    expect(await second.database.job('x')).toMatchObject({ state: 'running', epoch: 1 })
    expect(second.wire.sent('claims.recover')).toEqual([])
    const tokens = second.wire.sent('claims.renew').flatMap((params) => (params as RenewParams).tokens)
    for (const token of tokens) expect(token).toContain(second.engine.health().running?.identity)
    await second.clock.advance(12_000)
    expect(runs).toEqual([2])
    expect(await second.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 2, evictions: 1 })
    await second.engine.stop()
    await stopNow(first)
  })
})
