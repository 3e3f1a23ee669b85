import { describe, expect, it } from 'vitest'
import { InvalidArgument, NamedLeaseLost, StoreUnavailable } from '../../../src/engine/errors.ts'
import type { Exclusive } from '../../../src/engine/leases/exclusive.ts'
import { type Bench, type BenchOptions, bench, failure, gate } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const renewals = ({ wire }: Bench): number[] =>
  wire.calls.filter(({ call }) => call === 'leases.renew').map(({ atMs }) => atMs)

/** Exclusive work in the hands of the test, under a lease of 30 s that was asked for at 0. */
async function working(options: BenchOptions = {}) {
  const b = bench(options)
  const done = gate<string>()
  const given: Exclusive[] = []
  const reasons: [unknown, number][] = []
  const ended = b.engine.exclusive('key', (exclusive) => {
    given.push(exclusive)
    const { signal } = exclusive
    signal.addEventListener('abort', () => reasons.push([signal.reason, b.clock.nowMs]))
    return done.promise
  })
  // Taken up at once, for tests in which it fails.
  ended.catch(() => {})
  await b.clock.settle()
  return { b, done, given, reasons, ended }
}

/** Another process, and whether it gets the lease now. */
async function another({ clock, database }: Bench): Promise<boolean> {
  const other = bench({ clock, database })
  return (await other.engine.exclusive('key', async () => 'theirs')) !== null
}

describe('exclusive work', () => {
  it('is done by one process at a time; null where somebody else is at it (11.1)', async () => {
    const { b, done, ended, reasons } = await working()
    expect(await another(b)).toBe(false)
    expect(await b.engine.exclusive('key', async () => 'mine again')).toBe(null)
    expect(await b.engine.exclusive('other', async () => 'free')).toEqual({ value: 'free' })
    done.open('done')
    expect(await ended).toEqual({ value: 'done' })
    expect(reasons).toEqual([])
    expect(await another(b)).toBe(true)
    expect(b.clock.armed).toEqual([])
    const own = b.events.filter(({ type }) => type.startsWith('exclusive.'))
    expect(own.map(({ type }) => type)).toEqual([
      'exclusive.began',
      'exclusive.began',
      'exclusive.ended',
      'exclusive.ended',
    ])
  })

  it('may answer its value without a promise, as a handler may', async () => {
    const b = bench()
    const work = (() => 'at once') as unknown as () => Promise<string>
    expect(await b.engine.exclusive('key', work)).toEqual({ value: 'at once' })
    expect(await another(b)).toBe(true)
  })

  it('is renewed at half its lease, for as long as it takes', async () => {
    const { b, done, ended, reasons } = await working()
    await b.clock.advance(300_000)
    expect(renewals(b)).toEqual(Array.from({ length: 20 }, (_, k) => 15_000 * (k + 1)))
    expect(await another(b)).toBe(false)
    done.open('done')
    expect(await ended).toEqual({ value: 'done' })
    expect(reasons).toEqual([])
    expect(b.clock.armed).toEqual([])
  })

  it.each([
    ['rejects', () => Promise.reject(new RangeError('mine'))],
    [
      'throws at once',
      () => {
        throw new RangeError('mine')
      },
    ],
  ])('that %s rejects with that, and its lease is released', async (_what, work) => {
    const b = bench()
    await expect(b.engine.exclusive('key', work)).rejects.toThrow(RangeError)
    expect(b.clock.armed).toEqual([])
    expect(await another(b)).toBe(true)
  })

  it('is told at once when a renewal is refused, is renewed no more, and releases nothing (11.3)', async () => {
    const { b, done, given, reasons, ended } = await working()
    const { owner } = b.wire.sent('leases.acquire')[0] as { owner: string }
    await b.database.raw.leases.release({ key: 'key', owner })
    await b.database.raw.leases.acquire({ key: 'key', owner: 'thief', ttlMs: 3_600_000 })
    await b.clock.advance(14_999)
    expect(given[0]?.signal.aborted).toBe(false)
    await b.clock.advance(1)
    expect(reasons).toEqual([[expect.any(NamedLeaseLost), 15_000]])
    expect(String(reasons[0]?.[0])).toMatch(/the lease key was taken over/)
    await b.clock.advance(300_000)
    expect(renewals(b)).toEqual([15_000])
    done.open('late')
    expect(await ended).toEqual({ value: 'late' })
    expect(b.wire.sent('leases.release')).toEqual([])
    expect(b.of('exclusive.lost')).toHaveLength(1)
    expect(b.clock.armed).toEqual([])
  })

  it('is told before another can start, in an outage longer than its lease, counted from the sending (0.2)', async () => {
    const { b, done, reasons, ended } = await working({ bare: true })
    b.wire.next('leases.renew', 'hang-reply')
    await b.clock.advance(18_000)
    b.wire.letGo()
    await b.clock.settle()
    // Renewed by a call that was sent at 15 s.
    b.wire.down('refuse')
    await b.clock.advance(45_000 - 18_000 - 1)
    expect(reasons).toEqual([])
    await b.clock.advance(1)
    expect(reasons).toEqual([[expect.any(NamedLeaseLost), 45_000]])
    expect(String(reasons[0]?.[0])).toMatch(/could not be renewed/)
    b.wire.up()
    await b.clock.advance(60_000)
    const tries = renewals(b).filter((atMs) => atMs >= 45_000)
    expect(tries).toEqual([])
    expect(await another(b)).toBe(true)
    done.open('late')
    await ended
    expect(b.clock.armed).toEqual([])
  })

  it('goes on through an outage that ends in time: a failed renewal is tried again after a tenth (8.6)', async () => {
    const { b, done, reasons, ended } = await working({ bare: true })
    b.wire.next('leases.renew', 'refuse', 'lose-request', 'lose-reply', new Error('broken'))
    await b.clock.advance(60_000)
    expect(renewals(b)).toEqual([15_000, 18_000, 21_000, 24_000, 27_000, 42_000, 57_000])
    expect(reasons).toEqual([])
    done.open('done')
    expect(await ended).toEqual({ value: 'done' })
  })

  it('leaves nothing armed when it ends while a renewal is on its way, and releases after that', async () => {
    const { b, done, ended } = await working({ bare: true })
    b.wire.next('leases.renew', 'hang-reply')
    await b.clock.advance(16_000)
    done.open('done')
    await b.clock.settle()
    expect(b.wire.sent('leases.release')).toEqual([])
    b.wire.letGo()
    expect(await ended).toEqual({ value: 'done' })
    expect(b.wire.sent('leases.release')).toHaveLength(1)
    expect(b.clock.armed).toEqual([])
    expect(await another(b)).toBe(true)
  })

  it('has its value, though the release fails: the lease is left to lapse', async () => {
    const { b, done, ended } = await working({ bare: true })
    b.wire.next('leases.release', 'lose-request')
    done.open('done')
    expect(await ended).toEqual({ value: 'done' })
    expect(await another(b)).toBe(false)
    await b.clock.advance(30_000)
    expect(await another(b)).toBe(true)
  })

  it('does not begin on an answer that took a whole lease to come, nor where the answer is unknown', async () => {
    const b = bench({ bare: true })
    const ran: unknown[] = []
    const work = async (): Promise<void> => void ran.push(1)
    b.wire.next('leases.acquire', 'hang-reply')
    const late = b.engine.exclusive('key', work)
    await b.clock.advance(30_000)
    b.wire.letGo()
    expect(await late).toBe(null)
    b.wire.next('leases.acquire', 'lose-reply')
    expect(await failure(b.engine.exclusive('key', work))).toBeInstanceOf(StoreUnavailable)
    expect(await b.engine.exclusive('key', work)).toBe(null)
    expect(ran).toEqual([])
    expect(b.clock.armed).toEqual([])
    await b.clock.advance(30_000)
    expect(await another(b)).toBe(true)
  })

  it('that stood still for longer than its lease hears of it at once', async () => {
    const { b, done, reasons, ended } = await working()
    await b.clock.freeze(60_000)
    expect(reasons).toEqual([[expect.any(NamedLeaseLost), 60_000]])
    done.open('late')
    await ended
    expect(b.clock.armed).toEqual([])
  })

  it('is refused for a key that cannot be, or a lease of less than two store calls', async () => {
    const b = bench()
    const work = async (): Promise<void> => {}
    for (const key of ['', 'a\0']) {
      await expect(b.engine.exclusive(key, work)).rejects.toThrow(InvalidArgument)
    }
    for (const ttlMs of [10_000, 0.5, Number.NaN, -1]) {
      await expect(b.engine.exclusive('key', work, { ttlMs })).rejects.toThrow(
        /over two store calls \(10000\)/,
      )
    }
    expect(b.wire.calls).toEqual([])
    expect(await b.engine.exclusive('key', work, { ttlMs: 10_001 })).toEqual({ value: undefined })
  })
})
