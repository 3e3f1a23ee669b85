import { describe, expect, test } from 'vitest'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, gated, rows, stores } from './support.ts'

trapUnhandledRejections()

describe.each(stores)('E01 on %s: of two finalisers one wins', (_name, open) => {
  /** A claims, is cut off, and loses its lease to the sweep. */
  async function evicted() {
    const all = fleet(open)
    const [work, again] = [gated(), gated()]
    const a = all.process({ jobs: [work.job] })
    await a.engine.start()
    await a.engine.enqueue(work.job, null, { id: 'x' })
    await all.clock.settle()
    await all.sweeper()
    a.wire.down('lose-request')
    await all.clock.advance(40_000)
    expect(await all.database.job('x')).toMatchObject({ state: 'queued', epoch: 2, evictions: 1 })
    return { ...all, a, work, again }
  }

  test('the one that was evicted is told that it is stale, and changes nothing, before anybody claims again', async () => {
    const { a, work, clock, database, told, stop } = await evicted()
    const before = await rows(database)
    a.wire.up()
    work.gates[0]?.open('from A')
    await clock.settle()
    expect(a.of('attempt.confirmed')).toMatchObject([{ job: 'x', epoch: 1, settled: 'lost' }])
    expect(await rows(database)).toEqual(before)
    // Its own engine runs it again now; nothing stands of the first attempt.
    await clock.advance(30_000)
    work.gates[1]?.open('from A again')
    await clock.settle()
    expect(await database.job('x')).toMatchObject({
      state: 'succeeded',
      attempt: 2,
      failures: 0,
      result: '"from A again"',
    })
    expect(told('attempt.confirmed').filter(({ settled }) => settled === 'applied')).toHaveLength(1)
    await stop()
  })

  test('the result that is kept is that of the one that claimed it since', async () => {
    const { a, work, again, clock, database, process, told, stop } = await evicted()
    const b = process({ jobs: [again.job] })
    await b.engine.start()
    await clock.settle()
    expect(await database.job('x')).toMatchObject({ state: 'running', epoch: 3 })
    const before = await rows(database)
    a.wire.up()
    work.gates[0]?.open('from A')
    await clock.settle()
    expect(a.of('attempt.confirmed')).toMatchObject([{ epoch: 1, settled: 'lost' }])
    expect(await rows(database)).toEqual(before)
    again.gates[0]?.open('from B')
    await clock.settle()
    expect(await database.job('x')).toMatchObject({ state: 'succeeded', failures: 0, result: '"from B"' })
    expect(told('attempt.confirmed').map(({ settled }) => settled)).toEqual(['lost', 'applied'])
    await stop()
  })
})
