import { describe, expect, it } from 'vitest'
import { CommandRefused, InvalidArgument, PermanentFailure } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { CommandParams } from '../../src/engine/ports/store.ts'
import { type Bench, bench, failure, gate, never, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'

trapUnhandledRejections()

const noop = defineJob({ name: 'noop', run: () => {} })
const working = { jobs: [noop], queues: { default: { concurrency: 5 } } }

/** An engine whose job fails until it is allowed to succeed, and has failed for good. */
async function failed(): Promise<{ b: Bench; allow: () => void }> {
  let allowed = false
  const job = defineJob({
    name: 'job',
    run: () => {
      if (!allowed) throw new PermanentFailure('not yet')
    },
  })
  const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.settle()
  expect((await b.database.job('x')).state).toBe('failed')
  return { b, allow: () => (allowed = true) }
}

describe('retry', () => {
  it('starts a failed job anew, and wakes the local loop (5.12)', async () => {
    const { b, allow } = await failed()
    await b.clock.advance(40_000)
    allow()
    await b.engine.retry('x')
    await b.clock.settle()
    expect(await b.database.job('x')).toMatchObject({
      state: 'succeeded',
      attempt: 2,
      failures: 0,
      error: null,
    })
    await b.engine.stop()
  })

  it('of a version applies at that version alone (0.14)', async () => {
    const { b } = await failed()
    await b.engine.stop()
    const { version } = await b.database.job('x')
    await expect(b.engine.retry('x', { version: version - 1 })).rejects.toThrow(
      `retry: job x is failed at version ${version}, not what it was when this was asked at version ${version - 1}`,
    )
    await b.engine.retry('x', { version })
    const again = await failure(b.engine.retry('x', { version }))
    expect(again).toBeInstanceOf(CommandRefused)
    expect(again).toMatchObject({ code: 'COMMAND_REFUSED' })
    expect(String(again)).toContain(`is queued at version ${version + 1}`)
  })

  it('of a job that is not there, or in another state, is refused and says why', async () => {
    const b = bench(working)
    await expect(b.engine.retry('nobody')).rejects.toThrow('retry: there is no job nobody')
    await expect(b.engine.retry('nobody', { version: 3 })).rejects.toThrow(
      'retry: job nobody is gone, not what it was when this was asked at version 3',
    )
    await b.engine.enqueue(noop, null, { id: 'x' })
    await expect(b.engine.retry('x')).rejects.toThrow(
      'retry: job x is queued at version 1, and only a failed or cancelled job that was not replayed can be retried',
    )
    expect(await b.database.job('x')).toMatchObject({ version: 1, lastCommand: null })
  })

  it('without a version that meets another command between is refused, not applied to what came of that', async () => {
    const { b } = await failed()
    await b.engine.stop()
    b.wire.next('jobs.retry', 'hang')
    const mine = failure(b.engine.retry('x'))
    await b.clock.settle()
    await b.engine.retry('x')
    b.wire.letGo()
    expect(await mine).toBeInstanceOf(CommandRefused)
  })

  it('whose reply was lost is sent again by the same name, and applies once (8.3)', async () => {
    const { b } = await failed()
    await b.engine.stop()
    const { version } = await b.database.job('x')
    b.wire.next('jobs.retry', 'lose-reply', 'lose-reply')
    const retried = b.engine.retry('x')
    await b.clock.advance(1_000)
    await retried
    const sent = b.wire.sent('jobs.retry') as CommandParams[]
    expect(sent).toHaveLength(3)
    expect(new Set(sent.map(({ command }) => command)).size).toBe(1)
    expect((await b.database.job('x')).version).toBe(version + 1)
  })
})

describe('reschedule', () => {
  it('moves a queued job, and wakes the local loop when that makes it due', async () => {
    const b = bench(working)
    await b.engine.start()
    await b.engine.enqueue(noop, null, { id: 'x', delayMs: 3_600_000 })
    await b.engine.reschedule('x', { delayMs: 7_200_000 })
    expect((await b.database.job('x')).visibleAtMs).toBe(b.database.nowMs() + 7_200_000)
    await b.clock.advance(40_000)
    await b.engine.reschedule('x', { delayMs: 0, version: 2 })
    await b.clock.settle()
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1 })
    await expect(b.engine.reschedule('x', { delayMs: 0 })).rejects.toThrow(/^reschedule: job x is succeeded/)
    await expect(b.engine.reschedule('nobody', { delayMs: 0 })).rejects.toThrow('there is no job nobody')
    await b.engine.stop()
  })

  it('of another version is refused (0.14)', async () => {
    const b = bench(working)
    await b.engine.enqueue(noop, null, { id: 'x' })
    await expect(b.engine.reschedule('x', { delayMs: 5, version: 2 })).rejects.toThrow(CommandRefused)
    expect((await b.database.job('x')).version).toBe(1)
  })

  it.each([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 1e15])(
    'by %d ms is refused before it is sent (E17)',
    async (delayMs) => {
      const b = bench(working)
      await expect(b.engine.reschedule('x', { delayMs })).rejects.toThrow(InvalidArgument)
      expect(b.wire.calls).toEqual([])
    },
  )
})

describe('hold and pause (0.12)', () => {
  it('hold stops claiming by every engine on the store, what runs goes on, and resume wakes the loop', async () => {
    const done = gate()
    const held = defineJob({ name: 'noop', run: () => done.promise })
    const b = bench({ jobs: [held], queues: { default: { concurrency: 5 } } })
    const other = bench({ clock: b.clock, database: b.database, ...working })
    await Promise.all([b.engine.start(), other.engine.start()])
    await b.engine.enqueue(noop, null, { id: 'running' })
    await b.clock.settle()
    expect(await other.engine.hold()).toEqual({ hold: true, paused: [] })
    await b.engine.enqueue(noop, null, { id: 'x' })
    await b.clock.advance(120_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', attempt: 0 })
    expect(await b.database.job('running')).toMatchObject({ state: 'running', epoch: 1 })
    done.open()
    await b.clock.settle()
    expect((await b.database.job('running')).state).toBe('succeeded')
    expect(b.engine.health().status).toBe('ok')
    expect(await b.engine.resume()).toEqual({ hold: false, paused: [] })
    await b.clock.settle()
    expect((await b.database.job('x')).state).toBe('succeeded')
    await Promise.all([b.engine.stop(), other.engine.stop()])
  })

  it('pause stops one queue, and unpause wakes the loop', async () => {
    const side = defineJob({ name: 'side', queue: 'side', run: () => {} })
    const queues = { default: { concurrency: 5 }, side: { concurrency: 5 } }
    const b = bench({ jobs: [noop, side], queues })
    await b.engine.start()
    expect(await b.engine.pause('side')).toEqual({ hold: false, paused: ['side'] })
    expect(await b.engine.pause('default')).toEqual({ hold: false, paused: ['default', 'side'] })
    expect(await b.engine.unpause('default')).toEqual({ hold: false, paused: ['side'] })
    await b.engine.enqueue(side, null, { id: 'x' })
    await b.engine.enqueue(noop, null, { id: 'y' })
    await b.clock.advance(60_000)
    expect((await b.database.job('x')).state).toBe('queued')
    expect((await b.database.job('y')).state).toBe('succeeded')
    await b.engine.unpause('side')
    await b.clock.settle()
    expect((await b.database.job('x')).state).toBe('succeeded')
    await b.engine.stop()
  })

  it('a queue that cannot be is refused, and a lost reply is asked for again', async () => {
    const b = bench(working)
    await expect(b.engine.pause('')).rejects.toThrow(InvalidArgument)
    await expect(b.engine.unpause('a\0')).rejects.toThrow(InvalidArgument)
    expect(b.wire.calls).toEqual([])
    b.wire.next('control.set', 'lose-reply', 'lose-request')
    const holding = b.engine.hold()
    await b.clock.advance(1_000)
    expect(await holding).toEqual({ hold: true, paused: [] })
  })

  it('works on an engine that is not started, and all of it fails where the store is away', async () => {
    const b = bench(working)
    await b.engine.pause('default')
    await b.engine.enqueue(noop, null, { id: 'x' })
    b.wire.down('refuse')
    const asked = [
      b.engine.hold(),
      b.engine.unpause('default'),
      b.engine.cancel('x'),
      b.engine.retry('x'),
      b.engine.reschedule('x', { delayMs: 1, version: 1 }),
    ].map(failure)
    await b.clock.advance(5_000)
    for (const error of await Promise.all(asked)) expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(b.clock.armed).toEqual([])
  })
})

describe('an undispatched job (10.3)', () => {
  it('is queued by the sweep once it is a minute old, and runs on the engine that found it', async () => {
    const b = bench(working)
    await b.engine.enqueue(noop, null, { id: 'model' })
    const { spec } = await b.database.job('model')
    const jobs = [{ spec: { ...spec, id: 'x' }, due: { undispatched: true as const } }]
    await b.engine.start()
    await b.database.raw.jobs.insert({ insertId: 'i', jobs })
    await b.clock.advance(59_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', visibleAtMs: null, version: 1 })
    await b.clock.advance(31_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1 })
    await b.engine.stop()
  })

  it('is repaired in batches until none is left, and one that was cancelled is left alone', async () => {
    const b = bench()
    await b.engine.enqueue(noop, null, { id: 'model', delayMs: 86_400_000 })
    const { spec } = await b.database.job('model')
    const ids = Array.from({ length: 250 }, (_, k) => `j${k}`)
    const jobs = ids.map((id) => ({ spec: { ...spec, id }, due: { undispatched: true as const } }))
    await b.database.raw.jobs.insert({ insertId: 'i', jobs })
    await b.engine.cancel('j7')
    await b.clock.advance(60_000)
    await b.engine.start()
    await b.clock.advance(25_000)
    const states = await Promise.all(ids.map((id) => b.database.job(id)))
    expect(states.filter(({ visibleAtMs }) => visibleAtMs !== null)).toHaveLength(249)
    expect(states[7]).toMatchObject({ state: 'cancelled' })
    expect(b.wire.sent('jobs.repairDispatch')).toHaveLength(3)
    await b.engine.stop()
  })
})

it('operators change nothing of an attempt that runs on an engine that hangs', async () => {
  const stuck = defineJob({ name: 'noop', timeoutMs: 3_600_000, run: () => never() })
  const b = bench({ jobs: [stuck], queues: { default: { concurrency: 1 } } })
  await b.engine.start()
  await b.engine.enqueue(noop, null, { id: 'x', timeoutMs: 3_600_000 })
  await b.clock.settle()
  await expect(b.engine.retry('x')).rejects.toThrow(/is running at version 2/)
  await expect(b.engine.reschedule('x', { delayMs: 0 })).rejects.toThrow(/is running at version 2/)
  expect(await b.engine.cancel('x')).toBe('requested')
  await b.clock.advance(60_000)
  expect(await b.database.job('x')).toMatchObject({ state: 'running', epoch: 1, version: 3 })
  await stopNow(b)
  expect((await b.database.job('x')).state).toBe('cancelled')
})
