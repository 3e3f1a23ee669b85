import { describe, expect, test } from 'vitest'
import { LeaseLost } from '../../src/engine/errors.ts'
import type { Outcome } from '../../src/engine/jobs/record.ts'
import { failure } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, gated, rows, stores } from './support.ts'

trapUnhandledRejections()

describe.each(stores)('E03 on %s: whatever a stale worker writes is refused', (_name, open) => {
  /** B runs at a later epoch what A still believes to run. */
  async function superseded() {
    const all = fleet(open)
    const [stale, current] = [gated(), gated()]
    const a = all.process({ jobs: [stale.job] })
    await a.engine.start()
    await a.engine.enqueue(stale.job, null, { id: 'x' })
    await all.clock.settle()
    const tokenA = (await all.database.job('x')).token as string
    a.wire.down('lose-request')
    const b = all.process({ jobs: [current.job] })
    await b.engine.start()
    await all.clock.advance(70_000)
    expect(current.starts).toHaveLength(1)
    a.wire.up()
    return { ...all, a, stale, current, tokenA }
  }

  test('its progress and its checkpoints, with LeaseLost', async () => {
    const { stale, current, database, clock, stop } = await superseded()
    await current.starts[0]?.checkpoint('key', 'from B')
    await current.starts[0]?.progress(50, 'from B')
    const before = await rows(database)
    const context = stale.starts[0]
    const refused = Promise.all([
      failure(context?.progress(99, 'from A') ?? Promise.resolve()),
      failure(context?.checkpoint('key', 'from A') ?? Promise.resolve()),
      failure(context?.checkpoint('other', 'from A') ?? Promise.resolve()),
    ])
    await clock.settle()
    expect(await refused).toEqual([expect.any(LeaseLost), expect.any(LeaseLost), expect.any(LeaseLost)])
    expect(await rows(database)).toEqual(before)
    await stop()
  })

  test('the lines of its log, of which its own engine tells that they are lost', async () => {
    const { a, stale, current, database, clock, stop } = await superseded()
    current.starts[0]?.log('from B')
    await clock.advance(1_000)
    const before = await rows(database)
    // Said while it does not know yet that it is superseded.
    stale.starts[0]?.log('from A')
    await clock.advance(150)
    expect(await rows(database)).toEqual(before)
    expect((await a.engine.logs.tail('x')).lines.map(({ text }) => text)).toEqual(['from B'])
    await stop()
  })

  test('its heartbeat and its recovery find nothing, and leave the lease of the other alone', async () => {
    const { database, tokenA, a, stop } = await superseded()
    const before = await rows(database)
    const worker = a.engine.health().running?.identity as string
    expect(await database.raw.claims.renew({ worker, tokens: [tokenA] })).toEqual({ held: [] })
    const recovered = await database.raw.claims.recover({ token: tokenA, worker })
    expect(recovered.kind === 'recovered' ? recovered.jobs : []).toEqual([])
    // Where its claim row was collected meanwhile, its token is spent for good, and that is all.
    const { claims: _before, ...others } = before as { claims: unknown }
    const { claims: _after, ...now } = (await rows(database)) as { claims: unknown }
    expect(now).toEqual(others)
    await stop()
  })

  const outcomes: readonly Outcome[] = [
    { kind: 'succeeded', result: '"from A"' },
    { kind: 'failed', error: { code: 'E', message: 'from A' }, permanent: false, delayMs: 0 },
    { kind: 'failed', error: { code: 'E', message: 'from A' }, permanent: true, delayMs: 0 },
    { kind: 'released', delayMs: 0 },
    { kind: 'cancelled' },
  ]
  test.each(outcomes)('its settle: $kind (permanent: $permanent)', async (outcome) => {
    const { database, stop } = await superseded()
    const before = await rows(database)
    for (const [repeated, settled] of [
      [false, 'lost'],
      [true, 'superseded'],
    ] as const) {
      const settlements = [{ id: 'x', epoch: 1, outcome, repeated }]
      const { results } = await database.raw.jobs.settle({ worker: 'A', settlements })
      expect(results).toMatchObject([{ settled }])
      expect(await rows(database)).toEqual(before)
    }
    await stop()
  })

  test('what its handler throws charges nobody', async () => {
    const { stale, current, clock, database, a, stop } = await superseded()
    const before = await rows(database)
    stale.gates[0]?.fail(new Error('from A'))
    await clock.settle()
    expect(await rows(database)).toEqual(before)
    expect(a.of('attempt.confirmed')).toMatchObject([{ epoch: 1, settled: 'lost' }])
    current.gates[0]?.open('from B')
    await clock.settle()
    expect(await database.job('x')).toMatchObject({ state: 'succeeded', failures: 0, error: null })
    await stop()
  })
})
