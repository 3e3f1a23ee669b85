import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { SettleParams, Settlement } from '../../../src/engine/ports/store.ts'
import { type Bench, type BenchOptions, bench, gate } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const groups = ({ wire }: Bench): (readonly Settlement[])[] =>
  wire.sent('jobs.settle').map((params) => (params as SettleParams).settlements)
const ids = (group: readonly Settlement[] | undefined): string[] => (group ?? []).map(({ id }) => id)

/** Runs jobs of the given ids; the first ends when it is told to, and all end when the gate opens. */
async function running(
  names: readonly string[],
  options: BenchOptions = {},
): Promise<{ b: Bench; endFirst: () => Promise<void>; end: () => Promise<void> }> {
  const [first, done] = [gate(), gate()]
  const job = defineJob({
    name: 'job',
    run: ({ job: { id } }) => Promise.race(id === names[0] ? [first.promise, done.promise] : [done.promise]),
  })
  const b = bench({ bare: true, jobs: [job], queues: { default: { concurrency: 1_000 } }, ...options })
  await b.engine.start()
  await b.engine.enqueueMany(names.map((id) => ({ job, input: null, id })))
  await b.clock.settle()
  const end = (): Promise<void> => {
    done.open()
    return b.clock.settle()
  }
  const endFirst = (): Promise<void> => {
    first.open()
    return b.clock.settle()
  }
  return { b, endFirst, end }
}

describe('settling', () => {
  it('sends what ends while a settle is in flight with the next, in id order', async () => {
    const { b, endFirst, end } = await running(['d', 'b', 'a', 'c'])
    b.wire.next('jobs.settle', 'hang')
    await endFirst()
    await end()
    b.wire.letGo()
    await b.clock.settle()
    expect(groups(b).map(ids)).toEqual([['d'], ['a', 'b', 'c']])
    expect(b.of('attempt.confirmed')).toHaveLength(4)
    await b.engine.stop()
  })

  it('sends what ends in one turn together, and at most 500', async () => {
    const { b, end } = await running(Array.from({ length: 900 }, (_, k) => `j${k}`))
    await end()
    expect(groups(b).map(({ length }) => length)).toEqual([500, 400])
    await b.engine.stop()
  })

  it('says of each job under which claim and sequence it lies', async () => {
    const { b, end } = await running(['x', 'y'])
    const jobs = await Promise.all(['x', 'y'].map((id) => b.database.job(id)))
    await end()
    const places = groups(b).flatMap((group) => group.map(({ claimed }) => claimed))
    expect(places).toEqual(jobs.map(({ token, seq }) => ({ token, seq })))
    await b.engine.stop()
  })

  it('is repeated until it is known, marked from the first unknown outcome on (8.3)', async () => {
    const { b, end } = await running(['x'])
    b.wire.next('jobs.settle', 'refuse', 'lose-request', 'refuse', 'lose-reply')
    await end()
    await b.clock.advance(10_000)
    expect(groups(b).map(([settlement]) => settlement?.repeated)).toEqual([false, false, true, true, true])
    expect(b.of('attempt.confirmed')).toMatchObject([{ settled: 'applied' }])
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1 })
    await b.engine.stop()
  })

  it('goes with a fresh settlement without marking it', async () => {
    const { b, endFirst, end } = await running(['x', 'y'])
    b.wire.next('jobs.settle', 'lose-reply')
    await endFirst()
    await end()
    await b.clock.advance(2_000)
    expect(groups(b)[1]).toMatchObject([
      { id: 'x', repeated: true },
      { id: 'y', repeated: false },
    ])
    await b.engine.stop()
  })

  it('whose outcome the store will not take fails for good, and its group is none the worse', async () => {
    const { b, end } = await running(['a', 'b', 'c'])
    const { settle } = b.wire.store.jobs
    const picky = (params: SettleParams): ReturnType<typeof settle> => {
      const bad = params.settlements.some(({ id, outcome }) => id === 'b' && outcome.kind === 'succeeded')
      return bad ? Promise.reject(new InvalidArgument('it does not fit')) : settle(params)
    }
    Object.assign(b.wire.store.jobs, { settle: picky })
    await end()
    await b.clock.settle()
    expect(b.of('attempt.confirmed').map(({ settled }) => settled)).toEqual(['applied', 'applied', 'applied'])
    const error = { code: 'RESULT_INVALID', message: expect.stringContaining('it does not fit') as string }
    expect(await b.database.job('b')).toMatchObject({ state: 'failed', failures: 1, error })
    expect((await b.database.job('c')).state).toBe('succeeded')
    await b.engine.stop()
  })

  it('that the store refuses whatever it says is left to its lease alone, at once', async () => {
    const { b, end } = await running(Array.from({ length: 100 }, (_, k) => `j${String(k).padStart(3, '0')}`))
    const { settle } = b.wire.store.jobs
    const picky = (params: SettleParams): ReturnType<typeof settle> => {
      if (!ids(params.settlements).includes('j077')) return settle(params)
      return Promise.reject(new InvalidArgument('it does not fit'))
    }
    Object.assign(b.wire.store.jobs, { settle: picky })
    await end()
    await b.clock.settle()
    expect(b.clock.nowMs).toBe(0)
    const lost = b.of('attempt.confirmed').filter(({ settled }) => settled === 'lost')
    expect(lost).toMatchObject([{ job: 'j077' }])
    expect(b.of('attempt.confirmed')).toHaveLength(100)
    expect((await b.database.job('j099')).state).toBe('succeeded')
    expect((await b.database.job('j077')).state).toBe('running')
    await b.engine.stop()
  })
})
