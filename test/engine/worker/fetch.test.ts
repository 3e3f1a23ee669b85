import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { ClaimParams } from '../../../src/engine/ports/store.ts'
import { type Bench, bench, gate, never, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const noop = defineJob({ name: 'noop', run: () => {} })
const slow = defineJob({ name: 'slow', run: ({ sleep }) => sleep(10_000) })

const claims = ({ wire }: Bench): ClaimParams[] => wire.sent('claims.claim') as ClaimParams[]
const claimTimes = ({ wire }: Bench): number[] =>
  wire.calls.filter(({ call }) => call === 'claims.claim').map(({ atMs }) => atMs)

async function started(options: Parameters<typeof bench>[0]): Promise<Bench> {
  const made = bench(options)
  await made.engine.start()
  await made.clock.settle()
  return made
}

describe('the fetch loop', () => {
  it('claims at most what is free, of each queue (2.12)', async () => {
    const jobs = [slow, defineJob({ name: 'side', queue: 'side', run: () => never() })]
    const b = await started({ jobs, queues: { default: { concurrency: 3 }, side: { concurrency: 2 } } })
    await b.engine.enqueueMany(Array.from({ length: 9 }, () => ({ job: slow, input: null })))
    await b.engine.enqueueMany(Array.from({ length: 9 }, () => ({ job: jobs[1] as never, input: null })))
    await b.clock.advance(5_000)
    expect(claims(b)[0]).toMatchObject({ limit: 5, kinds: ['side', 'slow'], solo: 'take' })
    expect(b.engine.health().running?.worker).toMatchObject({ running: 5, slotsUsed: 5 })
    const before = claims(b).length
    await b.clock.advance(4_000)
    expect(claims(b)).toHaveLength(before)
    await b.clock.advance(1_000)
    for (const { queues } of claims(b).slice(before)) expect(queues).toEqual([{ queue: 'default', limit: 1 }])
    expect(b.of('attempt.started')).toHaveLength(8)
    await stopNow(b)
  })

  it('claims again at once after a full batch', async () => {
    const b = await started({ jobs: [noop], queues: { default: { concurrency: 10 } } })
    await b.engine.enqueueMany(Array.from({ length: 95 }, () => ({ job: noop, input: null })))
    await b.clock.settle()
    await b.clock.settle()
    expect(b.clock.nowMs).toBe(0)
    expect(b.of('attempt.confirmed')).toHaveLength(95)
    await b.engine.stop()
  })

  it('claims again at once from the queue that is full, though another is empty', async () => {
    const jobs = [noop, defineJob({ name: 'side', queue: 'side', run: () => {} })]
    const b = await started({ jobs, queues: { default: { concurrency: 5 }, side: { concurrency: 5 } } })
    await b.engine.enqueueMany(Array.from({ length: 95 }, () => ({ job: noop, input: null })))
    await b.clock.advance(100)
    expect(b.of('attempt.confirmed')).toHaveLength(95)
    await b.engine.stop()
  })

  it('polls after 1 s when idle, then ever more rarely, up to 30 s (0.3)', async () => {
    const b = await started({ jobs: [noop], queues: { default: { concurrency: 1 } } })
    await b.clock.advance(125_000)
    const times = claimTimes(b)
    const waits = times.slice(1).map((atMs, k) => atMs - (times[k] as number))
    expect(waits.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    await b.engine.stop()
  })

  it('does not take a short batch for an idle poll (0.3)', async () => {
    const b = await started({ jobs: [noop], queues: { default: { concurrency: 10 } } })
    await b.clock.advance(32_000)
    await b.engine.enqueue(noop, null)
    await b.clock.settle()
    const shortAtMs = b.clock.nowMs
    await b.clock.advance(1_000)
    expect(claimTimes(b).filter((atMs) => atMs >= shortAtMs)).toEqual([shortAtMs, shortAtMs + 1_000])
    await b.engine.stop()
  })

  it('wakes on a local enqueue, also on one that comes while a claim is on its way', async () => {
    const b = await started({ jobs: [noop], queues: { default: { concurrency: 10 } } })
    await b.clock.advance(40_000)
    b.wire.next('claims.claim', 'hang-reply')
    await b.engine.enqueue(noop, null)
    await b.clock.settle()
    await b.engine.enqueue(noop, null)
    b.wire.letGo()
    await b.clock.settle()
    expect(b.of('attempt.started')).toHaveLength(2)
    await b.engine.stop()
  })

  it('waits longer and longer while the store refuses (2.12)', async () => {
    const b = await started({ bare: true, jobs: [noop], queues: { default: { concurrency: 1 } } })
    b.wire.down('refuse')
    await b.clock.advance(120_000)
    const waits = claimTimes(b).map((atMs, k, all) => atMs - (all[k - 1] ?? 0))
    expect(waits.slice(1, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    b.wire.up()
    await b.engine.stop()
  })

  it('does not spin when every claim fails and every recovery succeeds', async () => {
    const b = await started({ bare: true, jobs: [noop], queues: { default: { concurrency: 1 } } })
    b.wire.next('claims.claim', ...Array.from({ length: 500 }, () => new InvalidArgument('no such column')))
    await b.clock.advance(10_000)
    expect(claims(b).length).toBeLessThan(12)
    await b.engine.stop()
  })

  it('claims only kinds that it has handlers for (0.7, 2.13)', async () => {
    const described = defineJob({ name: 'elsewhere' })
    const b = await started({ jobs: [noop, described], queues: { default: { concurrency: 1 } } })
    await b.engine.enqueue(described, null, { id: 'x' })
    await b.clock.advance(60_000)
    expect(new Set(claims(b).flatMap(({ kinds }) => kinds))).toEqual(new Set(['noop']))
    expect((await b.database.job('x')).attempt).toBe(0)
    await b.engine.stop()
  })

  it.each([
    ['no queues', { jobs: [noop] }],
    ['no kinds', { jobs: [defineJob({ name: 'x' })], queues: { default: { concurrency: 1 } } }],
    ['queues of concurrency 0', { jobs: [noop], queues: { default: { concurrency: 0 } } }],
  ])('claims nothing with %s (0.9)', async (_what, options) => {
    const b = await started(options)
    await b.engine.enqueue(noop, null)
    await b.clock.advance(120_000)
    expect(claims(b)).toEqual([])
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })
})

describe('a claim of very many', () => {
  it('asks for at most 500, and the next is on its way before these have run', async () => {
    const open = gate()
    const asked: number[] = []
    const job = defineJob({
      name: 'job',
      run: () => {
        asked.push(claims(b).length)
        return open.promise
      },
    })
    const b = bench({ bare: true, jobs: [job], queues: { default: { concurrency: 1_200 } } })
    await b.engine.enqueueMany(Array.from({ length: 1_100 }, () => ({ job, input: null })))
    await b.engine.start()
    await b.clock.settle()
    expect(claims(b).map(({ limit }) => limit)).toEqual([500, 500, 200])
    expect(asked[0]).toBeGreaterThan(1)
    expect(b.of('attempt.started')).toHaveLength(1_100)
    open.open()
    await b.clock.settle()
    await b.engine.stop()
  })
})

describe('a claim whose reply is lost (0.10)', () => {
  it('is recovered by its token, with no attempt burnt', async () => {
    const b = await started({ jobs: [noop], queues: { default: { concurrency: 5 } } })
    b.wire.next('claims.claim', 'lose-reply')
    await b.engine.enqueueMany(['a', 'b'].map((id) => ({ job: noop, input: null, id })))
    await b.clock.settle()
    const [token] = b.of('claim.unknown').map((event) => event.token)
    expect(b.wire.sent('claims.recover')).toEqual([{ token, worker: b.engine.health().running?.identity }])
    for (const id of ['a', 'b'])
      expect(await b.database.job(id)).toMatchObject({
        state: 'succeeded',
        attempt: 1,
        failures: 0,
        evictions: 0,
      })
    await b.engine.stop()
  })

  it('is void when the request was lost, and the jobs are claimed again at once', async () => {
    const b = await started({ jobs: [noop], queues: { default: { concurrency: 5 } } })
    b.wire.next('claims.claim', 'lose-request')
    await b.engine.enqueue(noop, null, { id: 'a' })
    await b.clock.settle()
    expect(await b.database.job('a')).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(new Set(claims(b).map(({ token }) => token)).size).toBe(claims(b).length)
    await b.engine.stop()
  })

  it('is recovered before anything else is claimed, however long the store is away', async () => {
    const b = await started({ jobs: [noop], queues: { default: { concurrency: 5 } } })
    const asked = claims(b).length + 1
    b.wire.next('claims.claim', 'lose-reply')
    await b.engine.enqueue(noop, null, { id: 'a' })
    b.wire.down('lose-request')
    await b.clock.advance(600_000)
    expect(claims(b)).toHaveLength(asked)
    expect(b.engine.health().running?.worker.fetch.unknownClaim).toBe(true)
    b.wire.up()
    await b.clock.advance(30_000)
    expect(await b.database.job('a')).toMatchObject({ state: 'succeeded', attempt: 1, evictions: 0 })
    await b.engine.stop()
  })

  it('needs no recovery when it was refused before it was sent', async () => {
    const b = await started({ bare: true, jobs: [noop], queues: { default: { concurrency: 5 } } })
    b.wire.next('claims.claim', 'refuse')
    await b.engine.enqueue(noop, null, { id: 'a' })
    await b.clock.advance(1_000)
    expect(b.wire.sent('claims.recover')).toEqual([])
    expect((await b.database.job('a')).state).toBe('succeeded')
    await b.engine.stop()
  })
})
