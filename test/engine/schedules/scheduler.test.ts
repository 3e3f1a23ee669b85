import { describe, expect, it } from 'vitest'
import { InvalidConfig } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const beat = defineJob<null>({ name: 'beat', run: () => {} })
const everyTen = { job: beat, input: null, cron: '*/10 * * * *' } as const

async function jobs({ database }: Pick<Bench, 'database'>): Promise<string[]> {
  return (await database.raw.dump()).jobs.map(({ spec }) => spec.id)
}
const asks = (b: Bench): number => b.wire.sent('schedules.due').length

describe('the loop', () => {
  it('makes the job of each slot when it comes, with the key by which it is found (17.1)', async () => {
    const b = bench({ jobs: [beat], queues: { default: { concurrency: 1 } } })
    await b.engine.start()
    await b.engine.schedules.put('ten', { ...everyTen, tenant: 'T', keys: { area: 'x' } })
    await b.clock.advance(9 * minuteMs + 59_999)
    expect(await jobs(b)).toEqual([])
    await b.clock.advance(1_000)
    const id = 'ten@2026-01-01T00:10:00.000Z'
    expect(await jobs(b)).toEqual([id])
    const { spec, state } = await b.database.job(id)
    expect(spec).toMatchObject({ kind: 'beat', keys: ['area:X', 'schedule:TEN', 'tenant=T'], input: 'null' })
    expect(state).toBe('succeeded')
    await stopNow(b)
  })

  it('makes jobs that state what a newer release has added, too (0.19, 25.5)', async () => {
    const b = bench({ jobs: [beat], queues: { default: { concurrency: 1 } } })
    const { schedules } = b.database.raw
    await b.engine.schedules.put('ten', everyTen)
    const { version = '', spec = '', nextAtMs = 0 } = (await schedules.get({ key: 'ten' })) ?? {}
    const said = JSON.parse(spec) as { readonly job: object }
    const ahead = { limits: [{ per: 'é', n: null }], '': 1.5 }
    const newer = JSON.stringify({ ...said, job: { ...said.job, ...ahead } })
    await schedules.put({ key: 'ten', version, command: 'c', spec: newer, nextAtMs })
    await b.engine.start()
    await b.clock.advance(11 * minuteMs)
    const job = await b.database.job('ten@2026-01-01T00:10:00.000Z')
    expect(job).toMatchObject({ state: 'succeeded', spec: ahead })
    await stopNow(b)
  })

  it('sleeps until the next slot; where there is no schedule it looks once a minute (17)', async () => {
    const b = bench()
    await b.engine.start()
    await b.clock.advance(10 * minuteMs)
    expect(asks(b)).toBe(11)
    await b.engine.schedules.put('ten', everyTen)
    await b.clock.advance(10 * minuteMs)
    // At once, every 30 s, and at the slot.
    expect(asks(b) - 11).toBeLessThanOrEqual(22)
    await stopNow(b)
  })

  it('waits for months without a timer that is longer than there are (E17)', async () => {
    const b = bench()
    await b.engine.start()
    await b.engine.schedules.put('rare', { job: beat, input: null, everyMs: 60 * dayMs })
    const before = asks(b)
    await b.clock.advance(10 * minuteMs)
    expect(asks(b) - before).toBeLessThanOrEqual(21)
    await stopNow(b)
  })

  it('sees what another engine put within a minute', async () => {
    const b = bench()
    await b.engine.start()
    await b.clock.advance(1_000)
    const other = bench({ database: b.database, clock: b.clock })
    await other.engine.schedules.put('k', { job: beat, input: null, everyMs: 5_000 })
    await b.clock.advance(minuteMs)
    expect((await jobs(b)).length).toBeGreaterThanOrEqual(1)
    await stopNow(b)
  })

  it('goes by the time of the database: its own clock and early timers decide nothing (0.1, E11)', async () => {
    const b = bench()
    await b.engine.start()
    await b.engine.schedules.put('ten', everyTen)
    b.database.jump(-5 * minuteMs)
    await b.clock.advance(14 * minuteMs)
    expect(await jobs(b)).toEqual([])
    await b.clock.advance(2 * minuteMs)
    expect(await jobs(b)).toEqual(['ten@2026-01-01T00:10:00.000Z'])
    await stopNow(b)
  })

  it('makes no slot twice when the clock is set back by a day, and goes on when its time comes again (E21)', async () => {
    const b = bench()
    await b.engine.start()
    await b.engine.schedules.put('ten', everyTen)
    await b.clock.advance(25 * minuteMs)
    const made = await jobs(b)
    expect(made).toHaveLength(2)
    b.database.jump(-dayMs)
    await b.clock.advance(dayMs)
    expect(await jobs(b)).toEqual(made)
    await b.clock.advance(10 * minuteMs)
    expect(await jobs(b)).toEqual([...made, 'ten@2026-01-01T00:30:00.000Z'])
    await stopNow(b)
  })

  it('one that cannot be fired keeps no other waiting, and is tried again, later and later', async () => {
    const b = bench()
    await b.engine.start()
    await b.engine.schedules.put('a', { job: beat, input: null, everyMs: 5_000 })
    await b.engine.schedules.put('b', { job: beat, input: null, everyMs: 5_000 })
    const failures = (): number | undefined => b.engine.health().running?.schedules?.failuresInARow
    // Each round asks for `a` first.
    b.wire.next('schedules.fire', new RangeError('too long'))
    await b.clock.advance(5_500)
    expect([await jobs(b), failures()]).toEqual([['b@2026-01-01T00:00:05.000Z'], 1])
    b.wire.next('schedules.fire', new RangeError('too long'))
    await b.clock.advance(1_000)
    expect([(await jobs(b)).length, failures()]).toEqual([1, 2])
    await b.clock.advance(2_000)
    expect([await jobs(b), failures()]).toEqual([
      ['a@2026-01-01T00:00:05.000Z', 'b@2026-01-01T00:00:05.000Z'],
      0,
    ])
    await stopNow(b)
  })

  it('what is made up for goes in parts of some mebibytes, one after the other', async () => {
    const big = bench()
    const large = defineJob<string>({ name: 'large', run: () => {} })
    const input = 'x'.repeat(1_000_000)
    await big.engine.schedules.put('k', { job: large, input, everyMs: minuteMs, catchUp: { all: 10 } })
    await big.clock.advance(30 * minuteMs + 5_000)
    await big.engine.start()
    await big.clock.advance(2_000)
    const fired = big.wire.sent('schedules.fire') as readonly { readonly slots: readonly unknown[] }[]
    expect(fired.map(({ slots }) => slots.length)).toEqual([4, 4, 2])
    expect(await jobs(big)).toEqual(Array.from({ length: 10 }, (_, n) => `k@2026-01-01T00:${21 + n}:00.000Z`))
    await stopNow(big)
  })

  it.each([
    ['skip', 0],
    ['latest', 1],
    [{ all: 50 }, 50],
  ] as const)(
    'after a stop of 101 minutes with %j it makes up for %s, and goes on (E21)',
    async (catchUp, made) => {
      const clocks = bench()
      await clocks.engine.schedules.put('k', { job: beat, input: null, cron: '* * * * *', catchUp })
      await clocks.clock.advance(101 * minuteMs + 5_000)
      await clocks.engine.start()
      await clocks.clock.settle()
      expect(await jobs(clocks)).toHaveLength(made)
      await clocks.clock.advance(minuteMs)
      expect(await jobs(clocks)).toHaveLength(made + 1)
      await stopNow(clocks)
    },
  )

  it('tries again when the store does not answer, ever more slowly, and misses nothing (E06)', async () => {
    const b = bench({ bare: true })
    await b.engine.start()
    await b.engine.schedules.put('ten', everyTen)
    await b.clock.advance(minuteMs)
    const before = asks(b)
    b.wire.down('refuse')
    await b.clock.advance(15 * minuteMs)
    expect(asks(b) - before).toBeLessThan(45)
    expect(b.engine.health().running?.schedules?.failuresInARow).toBeGreaterThan(5)
    b.wire.up()
    await b.clock.advance(40_000)
    expect(await jobs(b)).toEqual(['ten@2026-01-01T00:10:00.000Z'])
    await stopNow(b)
  })

  it('whose firing got no answer has fired once (8, 0.15)', async () => {
    const b = bench()
    await b.engine.start()
    await b.engine.schedules.put('ten', everyTen)
    b.wire.next('schedules.fire', 'lose-reply', 'lose-request', 'lose-reply')
    await b.clock.advance(31 * minuteMs)
    expect(await jobs(b)).toHaveLength(3)
    await stopNow(b)
  })

  it('leaves what it cannot read to others, says so, and fires the rest', async () => {
    const b = bench()
    const { raw } = b.database
    const nextAtMs = b.database.nowMs()
    const spec = JSON.stringify({ trigger: { moon: 'full' }, catchUp: 'latest', job: {} })
    await raw.schedules.put({ key: 'a', version: null, command: 'x', spec, nextAtMs })
    await b.engine.start()
    await b.engine.schedules.put('ten', everyTen)
    await b.clock.advance(11 * minuteMs)
    expect(await jobs(b)).toEqual(['ten@2026-01-01T00:10:00.000Z'])
    expect(b.of('schedule.unreadable')[0]).toMatchObject({ key: 'a' })
    expect(asks(b)).toBeLessThan(50)
    await stopNow(b)
  })

  it('fires kinds that its engine knows nothing of', async () => {
    const b = bench({ jobs: [] })
    const putter = bench({ database: b.database, clock: b.clock, jobs: [beat] })
    await putter.engine.schedules.put('ten', everyTen)
    await b.engine.start()
    await b.clock.advance(11 * minuteMs)
    expect(await jobs(b)).toHaveLength(1)
    await stopNow(b)
  })
})

describe('an engine', () => {
  it('that is not to fire schedules asks for none, and still changes them', async () => {
    const b = bench({ schedules: false })
    await b.engine.start()
    await b.engine.schedules.put('ten', everyTen)
    await b.clock.advance(30 * minuteMs)
    await b.engine.tick()
    expect([asks(b), await jobs(b)]).toEqual([0, []])
    expect(b.engine.health().running?.schedules).toBeNull()
    await stopNow(b)
  })

  it('that keeps no timers fires what is due with its tick', async () => {
    const b = bench()
    await b.engine.schedules.put('ten', everyTen)
    await b.engine.tick()
    expect(await jobs(b)).toEqual([])
    await b.clock.advance(10 * minuteMs)
    await b.engine.tick()
    expect(await jobs(b)).toEqual(['ten@2026-01-01T00:10:00.000Z'])
  })

  it('refuses an option that is neither true nor false', () => {
    expect(() => bench({ schedules: 'no' as never })).toThrow(InvalidConfig)
  })
})
