// Where a process says that it is at rest, and where it does not: that decides what exploration takes for one state.
import { describe, expect, test } from 'vitest'
import type { AttemptContext } from '../../src/engine/jobs/context.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { restStateOf } from '../../src/engine/rest-state.ts'
import { type Bench, bench, gate, never, stopNow } from '../support/bench.ts'

type Run = (context: AttemptContext<unknown>) => unknown

/** Begun jobs of one engine. */
async function begun(run: Run, ...ids: string[]): Promise<Bench> {
  const job = defineJob({ name: 'job', timeoutMs: 5_000, retry: { maxAttempts: 1 }, run })
  const all = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
  await all.engine.start()
  for (const id of ids) await all.engine.enqueue(job, null, { id })
  await all.clock.advance(0)
  return all
}

const rests = ({ engine }: Bench): boolean => restStateOf(engine) !== null

describe('a process rests', () => {
  test('while it has nothing to do', async () => {
    const all = await begun(never)
    expect(rests(all)).toBe(true)
    await stopNow(all)
  })

  test('while one handler is at work', async () => {
    const all = await begun(never, 'a')
    expect(rests(all)).toBe(true)
    await stopNow(all)
  })
})

describe('a process does not rest', () => {
  test('while two handlers are at work', async () => {
    const all = await begun(never, 'a', 'b')
    expect(rests(all)).toBe(false)
    await stopNow(all)
  })

  test('while a handler goes on whose attempt is over', async () => {
    const done = gate()
    const all = await begun(() => done.promise, 'a')
    await all.clock.advance(20_000)
    expect(all.of('attempt.abandoned')).toHaveLength(1)
    expect(rests(all)).toBe(false)
    done.open()
    await all.clock.advance(0)
    expect(rests(all)).toBe(true)
    await stopNow(all)
  })

  test('while the settlement of an attempt that was abandoned waits to be sent again', async () => {
    const all = await begun(never, 'a')
    all.wire.next('jobs.settle', ...Array.from({ length: 20 }, () => 'refuse' as const))
    await all.clock.advance(21_000)
    expect(all.engine.health().running?.worker.settle.pending).toBe(1)
    expect(rests(all)).toBe(false)
    await all.clock.advance(60_000)
    expect(all.engine.health().running?.worker.settle.pending).toBe(0)
    await stopNow(all)
  })

  test('while a commit is on its way', async () => {
    const all = await begun(({ commit }) => commit(() => 7))
    all.wire.next('commits.transact', 'hang')
    await all.engine.enqueue(defineJob({ name: 'job' }), null, { id: 'a' })
    await all.clock.advance(1_000)
    expect(all.wire.hanging).toBe(1)
    expect(rests(all)).toBe(false)
    all.wire.letGo()
    await all.clock.advance(0)
    expect(rests(all)).toBe(true)
    await stopNow(all)
  })

  test('while it strives for a post', async () => {
    const all = await begun(never)
    const post = all.engine.lead('post', () => never())
    await all.clock.advance(0)
    expect(rests(all)).toBe(false)
    const stopped = post.stop()
    await all.clock.advance(60_000)
    await stopped
    await stopNow(all)
  })

  test('while it stops', async () => {
    const all = await begun(never, 'a')
    const stopped = all.engine.stop({ drainMs: 1_000 })
    await all.clock.advance(500)
    expect(rests(all)).toBe(false)
    await all.clock.advance(60_000)
    await stopped
  })
})
