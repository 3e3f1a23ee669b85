import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  IdConflict,
  InputInvalid,
  InvalidArgument,
  InvalidConfig,
  StoreUnavailable,
} from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { bench, failure } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const mail = defineJob({ name: 'mail', input: z.object({ to: z.string() }) })
const any = defineJob<unknown>({ name: 'any' })

describe('enqueue', () => {
  it('stores one job as its definition says, due now', async () => {
    const { engine, database } = bench()
    const { id, created } = await engine.enqueue(mail, { to: 'ann' })
    expect(created).toBe(true)
    expect(await engine.get(id)).toMatchObject({
      state: 'queued',
      spec: {
        id,
        kind: 'mail',
        queue: 'default',
        band: 2,
        input: '{"to":"ann"}',
        inputVersion: 1,
        maxAttempts: 3,
      },
      visibleAtMs: database.nowMs(),
      attempt: 0,
      failures: 0,
      evictions: 0,
      epoch: 0,
      version: 1,
    })
  })

  it('lets the call override queue, priority, lease and timeout', async () => {
    const { engine, database } = bench()
    await engine.enqueue(
      mail,
      { to: 'ann' },
      { id: 'a', queue: 'slow', priority: 'critical', leaseTtlMs: 21_600_000, timeoutMs: 5 },
    )
    expect((await database.job('a')).spec).toMatchObject({
      queue: 'slow',
      band: 0,
      leaseTtlMs: 21_600_000,
      timeoutMs: 5,
    })
  })

  it('stores many in their order', async () => {
    const { engine, database } = bench()
    const requests = ['c', 'a', 'b'].map((id) => ({ job: mail, input: { to: id }, id }))
    expect(await engine.enqueueMany(requests)).toEqual(['c', 'a', 'b'].map((id) => ({ id, created: true })))
    expect((await database.job('c')).seq).toBeLessThan((await database.job('a')).seq)
    expect(await engine.enqueueMany([])).toEqual([])
  })

  it('stores all of many or none', async () => {
    const { engine, database } = bench()
    await engine.enqueue(mail, { to: 'ann' }, { id: 'taken' })
    const requests = [
      { job: mail, input: { to: 'bob' }, id: 'fresh' },
      { job: mail, input: { to: 'bob' }, id: 'taken' },
    ]
    await expect(engine.enqueueMany(requests)).rejects.toThrow(IdConflict)
    await expect(
      engine.enqueueMany([
        { job: mail, input: { to: 'bob' } },
        { job: mail, input: 5 },
      ]),
    ).rejects.toThrow(InputInvalid)
    expect((await database.raw.dump()).jobs.map(({ spec }) => spec.id)).toEqual(['taken'])
  })

  it('answers the existing job for the same id, kind and input (0.17)', async () => {
    const { engine, database } = bench()
    const both = z.object({ a: z.number(), b: z.number() })
    const pair = defineJob({ name: 'pair', input: both })
    expect(await engine.enqueue(pair, { a: 1, b: 2 }, { id: 'x' })).toEqual({ id: 'x', created: true })
    expect(await engine.enqueue(pair, { b: 2, a: 1 }, { id: 'x' })).toEqual({ id: 'x', created: false })
    expect((await database.raw.dump()).jobs).toHaveLength(1)
  })

  it('refuses an id of another kind or input with IdConflict, which names it (0.17)', async () => {
    const { engine } = bench()
    await engine.enqueue(mail, { to: 'ann' }, { id: 'x' })
    await expect(engine.enqueue(any, { to: 'ann' }, { id: 'x' })).rejects.toMatchObject({
      code: 'ID_CONFLICT',
      ids: ['x'],
    })
    await expect(engine.enqueue(mail, { to: 'bob' }, { id: 'x' })).rejects.toThrow(IdConflict)
  })

  it('refuses one id twice in one call', async () => {
    const { engine } = bench()
    const twice = { job: mail, input: { to: 'ann' }, id: 'x' }
    await expect(engine.enqueueMany([twice, twice])).rejects.toThrow(InvalidArgument)
  })

  it('answers created: true when only the reply was lost (E09)', async () => {
    const { engine, wire, clock } = bench()
    wire.next('jobs.insert', 'lose-reply')
    const enqueued = engine.enqueue(mail, { to: 'ann' }, { id: 'x' })
    await clock.advance(200)
    expect(await enqueued).toEqual({ id: 'x', created: true })
  })

  it('says that the store is unavailable, and shows it in health, when nothing answers in time', async () => {
    const { engine, wire, clock } = bench()
    wire.down('lose-request')
    const enqueued = failure(engine.enqueue(mail, { to: 'ann' }))
    await clock.advance(5_000)
    expect(await enqueued).toBeInstanceOf(StoreUnavailable)
    expect(engine.health().store).toMatchObject({ reachable: false, failuresInARow: 1 })
    expect(clock.armed).toEqual([])
  })

  it('is not held against the store when the input was refused', async () => {
    const { engine } = bench()
    await engine.enqueue(mail, { to: 'ann' }, { id: 'x' })
    await expect(engine.enqueue(mail, { to: 'bob' }, { id: 'x' })).rejects.toThrow(IdConflict)
    expect(engine.health().store).toMatchObject({ reachable: true, lastReplyAgoMs: 0 })
  })
})

describe('when a job is due', () => {
  it('is a delay on the clock of the database (0.1)', async () => {
    const { engine, database } = bench()
    database.jump(-3_600_000)
    await engine.enqueue(mail, { to: 'ann' }, { id: 'x', delayMs: 5_000 })
    expect((await database.job('x')).visibleAtMs).toBe(database.nowMs() + 5_000)
  })

  it('may be an instant that the user gives', async () => {
    const { engine, database } = bench()
    await engine.enqueue(mail, { to: 'ann' }, { id: 'x', runAt: new Date('2030-01-01T00:00:00Z') })
    expect((await database.job('x')).visibleAtMs).toBe(Date.parse('2030-01-01T00:00:00Z'))
  })

  it('is never before its time, whatever the lease (E15)', async () => {
    const starts: number[] = []
    const later = defineJob({ name: 'later', run: () => void starts.push(clock.nowMs) })
    const { engine, clock } = bench({ jobs: [later], queues: { default: { concurrency: 4 } } })
    await engine.start()
    await engine.enqueue(later, null, { delayMs: 6 * 3_600_000, leaseTtlMs: 60_000 })
    await clock.advance(6 * 3_600_000 + 30_000)
    expect(starts).toHaveLength(1)
    expect(starts[0]).toBeGreaterThanOrEqual(6 * 3_600_000)
    await engine.stop()
  })

  const bad: [string, object][] = [
    ['both a delay and an instant', { delayMs: 1, runAt: new Date(0) }],
    ['a negative delay', { delayMs: -1 }],
    ['a delay of NaN (E17)', { delayMs: Number.NaN }],
    ['a delay of Infinity (E17)', { delayMs: Number.POSITIVE_INFINITY }],
    ['a fraction of a millisecond', { delayMs: 0.5 }],
    ['an invalid Date', { runAt: new Date(Number.NaN) }],
    ['an instant that a database cannot hold (E16)', { runAt: new Date(-8.64e15) }],
  ]
  it.each(bad)('is refused for %s', async (_what, options) => {
    const { engine, wire } = bench()
    await expect(engine.enqueue(mail, { to: 'ann' }, options)).rejects.toThrow(InvalidArgument)
    expect(wire.calls).toEqual([])
  })
})

describe('what is refused before anything is stored', () => {
  async function expectRefused(
    input: unknown,
    error: new (...args: never[]) => Error,
    options: object = {},
    job = any,
  ): Promise<void> {
    const { engine, wire } = bench()
    await expect(engine.enqueue(job, input, options)).rejects.toThrow(error)
    expect(wire.calls).toEqual([])
  }

  it('is an input that its schema refuses, synchronous or not (0.23)', async () => {
    await expectRefused({ to: 5 }, InputInvalid, {}, mail as typeof any)
    const slow = defineJob({ name: 'slow', input: z.string().refine(async (text) => text === 'yes') })
    await expectRefused('no', InputInvalid, {}, slow as typeof any)
  })

  it('is an input that would no longer pass its schema once it was stored (0.23)', async () => {
    await expectRefused(
      { at: new Date(0) },
      InputInvalid,
      {},
      defineJob({ name: 'dated', input: z.object({ at: z.date() }) }) as typeof any,
    )
    await expectRefused(
      undefined,
      InputInvalid,
      {},
      defineJob({ name: 'void', input: z.undefined() }) as typeof any,
    )
    await expectRefused(
      Number.NaN,
      InputInvalid,
      {},
      defineJob({ name: 'nan', input: z.nan() }) as typeof any,
    )
  })

  it('is an input that JSON cannot say', async () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const throwing = {
      toJSON: () => {
        throw Object.create(null)
      },
    }
    for (const input of [10n, { n: 10n }, () => 1, Symbol('s'), cyclic, throwing])
      await expectRefused(input, InputInvalid)
  })

  it('is an input over 1 MiB, counted in bytes', async () => {
    await expectRefused('é'.repeat(524_288), InputInvalid)
    const { engine } = bench()
    const fits = 'x'.repeat(1_048_576 - 2)
    const { id } = await engine.enqueue(any, fits)
    expect((await engine.get(id))?.spec.input).toHaveLength(1_048_576)
  })

  it('is an id, a queue or a priority that cannot be (X01)', async () => {
    await expectRefused(1, InvalidArgument, { id: '' })
    await expectRefused(1, InvalidArgument, { id: 'a\0b' })
    await expectRefused(1, InvalidArgument, { id: '\ud800' })
    await expectRefused(1, InvalidArgument, { id: 'x'.repeat(513) })
    await expectRefused(1, InvalidArgument, { queue: 'a\0' })
    await expectRefused(1, InvalidArgument, { priority: 'urgent' })
  })

  it("is a job's own lease within the margin, with the numbers named (0.3)", async () => {
    await expectRefused(1, InvalidConfig, { leaseTtlMs: 28_500 })
    const { engine } = bench()
    await expect(engine.enqueue(any, 1, { leaseTtlMs: 20_000 })).rejects.toThrow(
      /leaseTtlMs 20000 .* heartbeatMs 6666/,
    )
  })
})

describe('metadata and trace context', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it('are stored as they were given, and null where none were', async () => {
    const { engine, database } = bench()
    const metadata = { tenant: 'a', '': '' }
    await engine.enqueue(any, 1, { id: 'x', metadata, traceparent })
    metadata.tenant = 'changed since'
    await engine.enqueue(any, 1, { id: 'y', metadata: {} })
    await engine.enqueue(any, 1, { id: 'z' })
    const specOf = async (id: string): Promise<unknown> => (await database.job(id)).spec
    expect(await specOf('x')).toMatchObject({ metadata: { tenant: 'a', '': '' }, traceparent })
    expect(await specOf('y')).toMatchObject({ metadata: {}, traceparent: null })
    expect(await specOf('z')).toMatchObject({ metadata: null, traceparent: null })
  })

  it('make no other job of one with the same id, kind and input (0.17)', async () => {
    const { engine } = bench()
    await engine.enqueue(any, 1, { id: 'x' })
    const again = await engine.enqueue(any, 1, { id: 'x', metadata: { a: '1' }, traceparent })
    expect(again).toEqual({ id: 'x', created: false })
  })

  const bad: [string, object][] = [
    ['a value that is no string', { metadata: { a: 1 } }],
    ['metadata that is null', { metadata: null }],
    ['metadata that is a string', { metadata: 'abc' }],
    ['metadata that is a list', { metadata: ['a'] }],
    ['metadata over 16 KiB, in bytes', { metadata: { a: 'é'.repeat(8_190) } }],
    ['a trace context that is none', { traceparent: 'abc' }],
    ['a trace context in capitals', { traceparent: traceparent.toUpperCase() }],
    ['a trace context that goes on', { traceparent: `${traceparent}\n` }],
    ['a trace id of zeros', { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }],
    ['a parent id of zeros', { traceparent: `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01` }],
    ['the version that is never one', { traceparent: `ff${traceparent.slice(2)}` }],
    ['a trace context that is a number', { traceparent: 5 }],
  ]
  it.each(bad)('are refused for %s', async (_what, options) => {
    const { engine, wire } = bench()
    await expect(engine.enqueue(any, 1, options)).rejects.toThrow(InvalidArgument)
    expect(wire.calls).toEqual([])
  })

  it('may be 16 KiB', async () => {
    const { engine } = bench()
    const room = 16_384 - Buffer.byteLength(JSON.stringify({ a: '' }))
    await expect(engine.enqueue(any, 1, { metadata: { a: 'x'.repeat(room) } })).resolves.toMatchObject({
      created: true,
    })
  })
})

describe('text that stores find hard', () => {
  const nasty = ['\0', 'a\0b', '\ud800', '\udfff x', 'literal \\u0000', '😀', { '\0key': ['\ud800'] }]
  it.each(nasty)('comes to the handler and back unchanged: %j (X01)', async (value) => {
    const seen: unknown[] = []
    const echo = defineJob({ name: 'echo', run: ({ input }) => (seen.push(input), input) })
    const { engine, clock } = bench({ jobs: [echo], queues: { default: { concurrency: 1 } } })
    await engine.start()
    const { id } = await engine.enqueue(echo, value)
    await clock.advance(10)
    expect(seen).toEqual([value])
    const job = await engine.get(id)
    expect(job?.state).toBe('succeeded')
    expect(JSON.parse(job?.result ?? 'null')).toEqual(value)
    await engine.stop()
  })
})
