import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { EngineStopping, InvalidArgument, InvalidConfig } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { bench, database, failure, gate, never, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'

trapUnhandledRejections()

const noop = defineJob({ name: 'noop', run: () => {} })
const working = { jobs: [noop], queues: { default: { concurrency: 5 } } }

describe('start', () => {
  it('is one, however often and concurrently it is asked for', async () => {
    const b = bench(working)
    await Promise.all(Array.from({ length: 8 }, () => b.engine.start()))
    await b.engine.start()
    expect(b.of('engine.started')).toHaveLength(1)
    expect(b.wire.sent('watch.declare')).toHaveLength(1)
    await b.engine.stop()
  })

  it('waits through an outage and is over soon after it', async () => {
    const b = bench(working)
    b.wire.down('refuse')
    let started = false
    const starting = b.engine.start().then(() => (started = true))
    await b.clock.advance(3_600_000)
    expect(started).toBe(false)
    expect(b.engine.health()).toMatchObject({ status: 'starting', store: { reachable: false } })
    b.wire.up()
    await b.clock.advance(4_000)
    await starting
    expect(b.engine.health().status).toBe('ok')
    await b.engine.stop()
  })

  it('is refused where the fleet sweeps at another period, with both named (0.3), and may be asked for again', async () => {
    const b = bench(working)
    await b.database.raw.watch.declare({ sweepMs: 4_000 })
    for (let k = 0; k < 2; k++) {
      const refused = await Promise.all([failure(b.engine.start()), failure(b.engine.start())])
      for (const error of refused) {
        expect(error).toBeInstanceOf(InvalidConfig)
        expect(String(error)).toMatch(/5000 here but 4000/)
      }
      expect(b.engine.health().status).toBe('stopped')
    }
    expect(b.clock.armed).toEqual([])
    await b.database.raw.reset()
    await b.engine.start()
    expect(b.engine.health().status).toBe('ok')
    await b.engine.stop()
  })

  it('that a store answers with an error fails, and leaves nothing behind', async () => {
    const b = bench(working)
    b.wire.next('watch.declare', new InvalidArgument('not migrated'))
    await expect(b.engine.start()).rejects.toThrow('not migrated')
    expect(b.engine.health().status).toBe('stopped')
    await b.engine.start()
    await b.engine.stop()
  })

  it('asked for during a stop waits for it and begins anew', async () => {
    const b = bench(working)
    await b.engine.start()
    const stopping = b.engine.stop()
    await b.engine.start()
    await stopping
    expect(b.engine.health().status).toBe('ok')
    expect(b.of('engine.started')).toHaveLength(2)
    await b.engine.enqueue(noop, null)
    await b.clock.advance(10)
    expect(b.of('attempt.confirmed')).toHaveLength(1)
    await b.engine.stop()
  })

  it('that waits for a stop is called off by another stop: whoever spoke last is obeyed', async () => {
    const b = bench(working)
    await b.engine.start()
    const asked = [b.engine.stop(), b.engine.start(), b.engine.stop()]
    await Promise.all(asked)
    expect(b.engine.health().status).toBe('stopped')
    expect(b.clock.armed).toEqual([])
    const again = [b.engine.start(), b.engine.stop(), b.engine.start(), b.engine.stop(), b.engine.start()]
    await b.clock.settle()
    await Promise.all(again)
    expect(b.engine.health().status).toBe('ok')
    await b.engine.stop()
  })

  it('that is still waiting for the store ends with a stop', async () => {
    const b = bench(working)
    b.wire.down('refuse')
    const starting = b.engine.start()
    await b.clock.advance(5_500)
    const stopping = b.engine.stop()
    await b.clock.advance(5_000)
    await Promise.all([starting, stopping])
    expect(b.engine.health().status).toBe('stopped')
    expect(b.events.map(({ type }) => type)).not.toContain('engine.started')
    expect(b.clock.armed).toEqual([])
  })
})

describe('stop', () => {
  it('before any start, and repeated, is nothing', async () => {
    const b = bench(working)
    await b.engine.stop()
    await b.engine.start()
    await b.engine.stop()
    await b.engine.stop()
    expect(b.of('engine.stopped')).toHaveLength(1)
  })

  it('is one for eight at once (25.1), and the engine starts again after it, as another incarnation', async () => {
    const b = bench(working)
    await b.engine.start()
    const first = b.engine.health().running?.identity
    await Promise.all(Array.from({ length: 8 }, () => b.engine.stop()))
    expect(b.of('engine.stopped')).toHaveLength(1)
    expect(b.engine.health()).toMatchObject({ status: 'stopped', running: null })
    expect(b.clock.armed).toEqual([])
    await b.engine.start()
    expect(b.engine.health().running?.identity).not.toBe(first)
    await b.engine.enqueue(noop, null, { id: 'x' })
    await b.clock.settle()
    expect((await b.database.job('x')).state).toBe('succeeded')
    await b.engine.stop()
  })

  it('stores what ends in time and gives back the rest uncharged, before it is over (E26)', async () => {
    const reasons: unknown[] = []
    const quick = defineJob({ name: 'quick', run: ({ sleep }) => sleep(100) })
    const late = defineJob({
      name: 'late',
      run: async ({ signal, sleep }) => {
        await sleep(5_000).catch(() => reasons.push(signal.reason))
        throw signal.reason
      },
    })
    const stuck = defineJob({ name: 'stuck', run: () => never() })
    const jobs = [quick, late, stuck]
    const b = bench({ jobs, queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueueMany(jobs.map((job) => ({ job, input: null, id: job.name })))
    await b.clock.settle()
    const stops = [b.engine.stop({ drainMs: 2_000 }), b.engine.stop()]
    await b.clock.settle()
    expect(b.engine.health().status).toBe('stopping')
    await b.engine.enqueue(noop, null)
    await b.clock.advance(12_000)
    await Promise.all(stops)
    expect((await b.database.job('quick')).state).toBe('succeeded')
    for (const id of ['late', 'stuck'])
      expect(await b.database.job(id)).toMatchObject({
        state: 'queued',
        attempt: 1,
        failures: 0,
        evictions: 0,
        error: null,
        visibleAtMs: expect.toSatisfy((atMs: number) => atMs <= b.database.nowMs()),
      })
    expect(reasons).toEqual([expect.any(EngineStopping)])
    expect(b.clock.nowMs).toBe(12_000)
    expect(b.clock.armed).toEqual([])
    const claims = b.wire.sent('claims.claim').length
    await b.clock.advance(600_000)
    expect(b.wire.sent('claims.claim')).toHaveLength(claims)
  })

  it('releases the jobs of a claim that is in flight (E26)', async () => {
    const ran: unknown[] = []
    const job = defineJob({ name: 'noop', run: () => void ran.push(1) })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    b.wire.next('claims.claim', 'hang-reply')
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.engine.start()
    await b.clock.settle()
    const stopping = b.engine.stop()
    await b.clock.settle()
    b.wire.letGo()
    await b.clock.settle()
    await stopping
    expect(ran).toEqual([])
    expect(await b.database.job('x')).toMatchObject({
      state: 'queued',
      attempt: 1,
      failures: 0,
      evictions: 0,
    })
    expect(b.clock.armed).toEqual([])
  })

  it('recovers a claim whose reply was lost before it is over', async () => {
    const b = bench(working)
    b.wire.next('claims.claim', 'hang-reply')
    b.wire.next('claims.recover', 'lose-reply')
    await b.engine.enqueue(noop, null, { id: 'x' })
    await b.engine.start()
    await b.clock.settle()
    const stopping = b.engine.stop()
    await b.clock.advance(6_000)
    await stopping
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', attempt: 1, failures: 0 })
    expect(b.clock.armed).toEqual([])
    b.wire.letGo()
    await b.clock.settle()
  })

  it('ends also when the store is unreachable, and leaves what it held to the lease', async () => {
    const job = defineJob({ name: 'noop', run: ({ sleep }) => sleep(1_000) })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.settle()
    b.wire.down('lose-request')
    const stopping = b.engine.stop()
    await b.clock.advance(30_000)
    await stopping
    expect((await b.database.job('x')).state).toBe('running')
    expect(b.clock.armed).toEqual([])
  })

  it('ends when the reply to a recovery comes after it has given up', async () => {
    const b = bench({ ...working, bare: true })
    b.wire.next('claims.claim', 'lose-reply')
    b.wire.next('claims.recover', 'hang')
    await b.engine.enqueue(noop, null, { id: 'x' })
    await b.engine.start()
    const stopping = b.engine.stop({ drainMs: 0 })
    // Beyond 2 x callMs + heartbeatRetryMs the settler sends nothing more; then the jobs arrive.
    await b.clock.advance(13_000)
    b.wire.letGo()
    await b.clock.settle()
    await stopping
    expect((await b.database.job('x')).state).toBe('running')
    expect(b.clock.armed).toEqual([])
  })

  it('is over only when no call is in flight, so that the store may be closed then (25.2)', async () => {
    const job = defineJob({ name: 'noop', run: ({ sleep }) => sleep(11_000) })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null)
    await b.clock.advance(9_500)
    b.wire.next('claims.renew', 'hang')
    b.wire.next('watch.move', 'hang')
    await b.clock.advance(1_500)
    let stopped = false
    const stopping = b.engine.stop().then(() => (stopped = true))
    await b.clock.advance(500)
    expect(b.wire.hanging).toBe(2)
    expect(stopped).toBe(false)
    b.wire.letGo()
    await b.clock.settle()
    await stopping
    expect(b.clock.armed).toEqual([])
  })

  it('asked for by a handler ends', async () => {
    const b = bench({
      jobs: [defineJob({ name: 'noop', run: () => b.engine.stop({ drainMs: 0 }) })],
      queues: { default: { concurrency: 5 } },
    })
    await b.engine.start()
    await b.engine.enqueue(noop, null, { id: 'x' })
    await b.clock.advance(10_000)
    await b.clock.settle()
    expect(b.engine.health().status).toBe('stopped')
    expect((await b.database.job('x')).state).toBe('queued')
  })

  it.each([Number.NaN, -1])('refuses to drain for %d ms', async (drainMs) => {
    const b = bench(working)
    await b.engine.start()
    await expect(b.engine.stop({ drainMs })).rejects.toThrow(InvalidArgument)
    await b.engine.stop()
  })

  it('is what disposing of an engine does', async () => {
    const b = bench(working)
    await b.engine.start()
    await b.engine[Symbol.asyncDispose]()
    expect(b.engine.health().status).toBe('stopped')
    expect(b.clock.armed).toEqual([])
  })
})

describe('health', () => {
  it('goes through its phases', async () => {
    const b = bench(working)
    expect(b.engine.health()).toMatchObject({
      status: 'stopped',
      running: null,
      store: { reachable: true, lastReplyAgoMs: null },
    })
    const starting = b.engine.start()
    expect(b.engine.health().status).toBe('starting')
    await starting
    expect(b.engine.health().status).toBe('ok')
    const stopping = b.engine.stop()
    expect(b.engine.health().status).toBe('stopping')
    await stopping
    expect(b.engine.health().status).toBe('stopped')
  })

  it('is degraded while the store does not answer, and says why', async () => {
    const b = bench(working)
    await b.engine.start()
    b.wire.down('refuse')
    await b.clock.advance(12_000)
    const { status, store } = b.engine.health()
    expect(status).toBe('degraded')
    expect(store).toMatchObject({
      reachable: false,
      lastError: expect.stringContaining('did not answer within 5000 ms'),
    })
    expect(store.lastReplyAgoMs).toBeGreaterThan(9_000)
    b.wire.up()
    await b.clock.advance(6_000)
    expect(b.engine.health().status).toBe('ok')
    await b.engine.stop()
  })
})

describe('an observer or listener that throws', () => {
  const thrown: [string, unknown][] = [
    ['an Error', new Error('mine')],
    ['undefined', undefined],
    ['what cannot be printed', Object.create(null)],
  ]
  it.each(thrown)('%s harms nothing, and is told of', async (_what, value) => {
    const thrower = (): never => {
      throw value
    }
    const clock = virtualClock()
    const base = database(clock)
    const engine = createEngine({ store: base.raw, clock, ...working, observer: { event: thrower } })
    const told: string[] = []
    engine.on('attempt.confirmed', thrower)
    engine.on('observer.failed', ({ message }) => void told.push(message))
    await engine.start()
    await engine.enqueue(noop, null, { id: 'x' })
    await clock.settle()
    expect((await base.job('x')).state).toBe('succeeded')
    await engine.stop()
    expect(told.length).toBeGreaterThan(0)
    expect(clock.armed).toEqual([])
  })

  it('is told no more once it has left, also in the middle of an event', async () => {
    const b = bench(working)
    const told: string[] = []
    const leave = b.engine.on('engine.started', () => {
      told.push('first')
      leave()
      leave()
    })
    b.engine.on('engine.started', () => void told.push('second'))
    await b.engine.start()
    await b.engine.stop()
    await b.engine.start()
    await b.engine.stop()
    expect(told).toEqual(['first', 'second', 'second'])
  })
})

describe('two engines on one store', () => {
  it('share the work, each job once', async () => {
    const done = gate()
    const ran: string[] = []
    const job = defineJob({ name: 'noop', run: ({ job: { id } }) => (ran.push(id), done.promise) })
    const one = bench({ jobs: [job], queues: { default: { concurrency: 3 } } })
    const two = bench({
      clock: one.clock,
      database: one.database,
      jobs: [job],
      queues: { default: { concurrency: 3 } },
    })
    await Promise.all([one.engine.start(), two.engine.start()])
    await one.engine.enqueueMany(Array.from({ length: 6 }, (_, k) => ({ job, input: null, id: `j${k}` })))
    await one.clock.advance(31_000)
    expect(ran.toSorted()).toEqual(['j0', 'j1', 'j2', 'j3', 'j4', 'j5'])
    done.open()
    await Promise.all([stopNow(one), two.engine.stop()])
  })
})
