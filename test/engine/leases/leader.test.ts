import { describe, expect, it } from 'vitest'
import { EngineStopping, InvalidArgument, NamedLeaseLost } from '../../../src/engine/errors.ts'
import type { Exclusive } from '../../../src/engine/leases/exclusive.ts'
import type { Leadership } from '../../../src/engine/leases/leaders.ts'
import { type Bench, type BenchOptions, type Gate, bench, gate, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const ttlMs = 60_000

interface Term {
  readonly startedAtMs: number
  readonly signal: AbortSignal
  readonly done: Gate<unknown>
}

interface Candidate extends Bench {
  readonly terms: readonly Term[]
  readonly leadership: Leadership
  asked(): number[]
}

/** A process whose engine runs and campaigns, with its work in the hands of the test. Its work heeds its signal, or not. */
async function candidate(options: BenchOptions = {}, heeds = true): Promise<Candidate> {
  const b = bench(options)
  const terms: Term[] = []
  const work = ({ signal }: Exclusive): Promise<unknown> => {
    const done = gate<unknown>()
    terms.push({ startedAtMs: b.clock.nowMs, signal, done })
    if (heeds) signal.addEventListener('abort', () => done.fail(signal.reason))
    return done.promise
  }
  const leadership = b.engine.lead('post', work, { ttlMs })
  await b.engine.start()
  await b.clock.settle()
  const asked = (): number[] =>
    b.wire.calls.filter(({ call }) => call === 'leases.acquire').map(({ atMs }) => atMs)
  return { ...b, terms, leadership, asked }
}

const told = (b: Bench): string[] =>
  b.events.map(({ type }) => type).filter((type) => type.startsWith('leader.'))

describe('a leader (11.4)', () => {
  it('is elected at once where the post is free, works, and renews at half its lease', async () => {
    const b = await candidate()
    expect(b.terms).toHaveLength(1)
    expect(b.leadership.leading).toBe(true)
    expect(b.engine.health().running?.leads).toEqual(['post'])
    await b.clock.advance(300_000)
    const renewals = b.wire.calls.filter(({ call }) => call === 'leases.renew').map(({ atMs }) => atMs)
    expect(renewals).toEqual(Array.from({ length: 10 }, (_, k) => 30_000 * (k + 1)))
    expect(b.terms).toHaveLength(1)
    expect(told(b)).toEqual(['leader.elected'])
    await b.engine.stop()
  })

  it('is one of many: followers ask every half lease, and renew nothing', async () => {
    const a = await candidate()
    const b = await candidate({ clock: a.clock, database: a.database })
    await a.clock.advance(300_000)
    expect(b.terms).toEqual([])
    expect(b.leadership.leading).toBe(false)
    expect(b.asked()).toEqual(Array.from({ length: 11 }, (_, k) => 30_000 * k))
    expect(b.wire.sent('leases.renew')).toEqual([])
    expect(b.engine.health().running?.leads).toEqual([])
    await Promise.all([a.engine.stop(), b.engine.stop()])
    expect(a.clock.armed).toEqual([])
  })

  it('that stops steps down at once, and a follower leads half a lease later at the most', async () => {
    const a = await candidate()
    const b = await candidate({ clock: a.clock, database: a.database })
    await a.clock.advance(10_000)
    await a.engine.stop()
    expect(a.terms[0]?.signal.reason).toBeInstanceOf(EngineStopping)
    expect(a.wire.sent('leases.release')).toHaveLength(1)
    expect(told(a)).toEqual(['leader.elected'])
    await a.clock.advance(20_000)
    expect(b.terms.map(({ startedAtMs }) => startedAtMs)).toEqual([30_000])
    await b.engine.stop()
    expect(a.clock.armed).toEqual([])
  })

  it('that dies is followed once its lease is over, not before', async () => {
    const a = await candidate()
    const b = await candidate({ clock: a.clock, database: a.database })
    a.wire.down('refuse')
    await a.clock.advance(59_999)
    expect(b.terms).toEqual([])
    await a.clock.advance(1)
    expect(b.terms).toHaveLength(1)
    expect(told(a)).toEqual(['leader.elected', 'leader.lost'])
    a.wire.up()
    await Promise.all([stopNow(a), b.engine.stop()])
  })

  it('keeps its post through renewals that fail, until the lease itself ends (no flapping)', async () => {
    const b = await candidate({ bare: true })
    b.wire.next('leases.renew', 'refuse', 'lose-request', 'lose-reply')
    await b.clock.advance(59_000)
    expect(b.terms[0]?.signal.aborted).toBe(false)
    expect(b.leadership.leading).toBe(true)
    b.wire.down('refuse')
    await b.clock.advance(60_000)
    expect(b.terms[0]?.signal.reason).toBeInstanceOf(NamedLeaseLost)
    expect(b.leadership.leading).toBe(false)
    b.wire.up()
    await b.clock.advance(60_000)
    expect(b.terms).toHaveLength(2)
    expect(told(b)).toEqual(['leader.elected', 'leader.lost', 'leader.elected'])
    await b.engine.stop()
  })

  it('hears of a loss at once', async () => {
    const b = await candidate()
    const { owner } = b.wire.sent('leases.acquire')[0] as { owner: string }
    await b.database.raw.leases.release({ key: 'post', owner })
    await b.database.raw.leases.acquire({ key: 'post', owner: 'thief', ttlMs: 100_000 })
    await b.clock.advance(30_000)
    expect(b.terms[0]?.signal.reason).toBeInstanceOf(NamedLeaseLost)
    expect(b.wire.sent('leases.release')).toEqual([])
    await b.clock.advance(100_000)
    expect(b.terms.map(({ startedAtMs }) => startedAtMs)).toEqual([0, 120_000])
    await b.engine.stop()
  })

  it.each<[string, (term: Term) => void, string[]]>([
    ['returns', ({ done }) => done.open('done'), ['leader.elected', 'leader.elected']],
    [
      'throws',
      ({ done }) => done.fail(new Error('it broke')),
      ['leader.elected', 'leader.failed', 'leader.elected'],
    ],
  ])(
    'whose work %s gives the lease back, and campaigns again half a lease later',
    async (_how, end, events) => {
      const b = await candidate()
      await b.clock.advance(1_000)
      end(b.terms[0] as Term)
      await b.clock.settle()
      expect(b.leadership.leading).toBe(false)
      expect(b.wire.sent('leases.release')).toHaveLength(1)
      await b.clock.advance(29_999)
      expect(b.terms).toHaveLength(1)
      await b.clock.advance(1)
      expect(b.terms.map(({ startedAtMs }) => startedAtMs)).toEqual([0, 31_000])
      expect(told(b)).toEqual(events)
      expect(b.of('leader.failed').map(({ message }) => message)).toEqual(
        events.includes('leader.failed') ? ['Error: it broke'] : [],
      )
      const [first, second] = b.wire.sent('leases.acquire') as { owner: string }[]
      expect(first?.owner).not.toBe(second?.owner)
      await b.engine.stop()
      expect(b.clock.armed).toEqual([])
    },
  )

  it('campaigns on while the store does not answer, at most every half lease', async () => {
    const clock = bench().clock
    const b = bench({ clock, bare: true })
    await b.engine.start()
    b.wire.next('leases.acquire', 'lose-request', 'refuse', new Error('broken'))
    const terms: number[] = []
    const leadership = b.engine.lead('post', async () => void terms.push(clock.nowMs), { ttlMs })
    await b.clock.advance(90_000)
    expect(terms).toEqual([90_000])
    await leadership.stop()
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })

  it('begins when the engine is started, ends when it stops, and begins again with it', async () => {
    const b = bench()
    const started: number[] = []
    const work = ({ signal }: Exclusive): Promise<void> => {
      started.push(b.clock.nowMs)
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    }
    const leadership = b.engine.lead('post', work)
    await b.clock.advance(100_000)
    expect(b.wire.calls).toEqual([])
    await b.engine.start()
    await b.clock.settle()
    await b.engine.stop()
    await b.clock.advance(100_000)
    expect(started).toEqual([100_000])
    await b.engine.start()
    await b.clock.settle()
    expect(started).toEqual([100_000, 200_000])
    await Promise.all([leadership.stop(), leadership.stop()])
    expect(b.wire.sent('leases.release')).toHaveLength(2)
    await b.clock.advance(300_000)
    expect(started).toHaveLength(2)
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })

  it('whose work ignores its signal is waited for as handlers are, and then its lease is left to lapse', async () => {
    const a = await candidate({}, false)
    const b = await candidate({ clock: a.clock, database: a.database })
    await a.clock.advance(20_000)
    const stopped: number[] = []
    const stopping = a.leadership.stop().then(() => void stopped.push(a.clock.nowMs))
    await a.clock.advance(10_000)
    await stopping
    expect(stopped).toEqual([30_000])
    expect(a.wire.sent('leases.release')).toEqual([])
    expect(told(a)).toEqual(['leader.elected', 'leader.lost'])
    // Renewed for the last time at 30 s, in the instant in which it was given up.
    await a.clock.advance(59_999)
    expect(b.terms).toEqual([])
    await a.clock.advance(30_000)
    expect(b.terms).toHaveLength(1)
    await Promise.all([a.engine.stop(), b.engine.stop()])
    expect(a.clock.armed).toEqual([])
  })

  it('that is told to stop while its election is on the way works not at all, and gives the lease back', async () => {
    const b = bench({ bare: true })
    await b.engine.start()
    b.wire.next('leases.acquire', 'hang-reply')
    let worked = false
    const leadership = b.engine.lead('post', async () => (worked = true), { ttlMs })
    await b.clock.settle()
    const stopping = leadership.stop()
    b.wire.letGo()
    await stopping
    expect(worked).toBe(false)
    expect(b.wire.sent('leases.release')).toHaveLength(1)
    expect(told(b)).toEqual([])
    await b.engine.stop()
  })

  it('of two posts leads both, and each by itself', async () => {
    const b = bench()
    await b.engine.start()
    const work = ({ signal }: Exclusive): Promise<void> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    const [one] = [b.engine.lead('one', work), b.engine.lead('two', work)]
    await b.clock.settle()
    expect(b.engine.health().running?.leads).toEqual(['one', 'two'])
    await one.stop()
    expect(b.engine.health().running?.leads).toEqual(['two'])
    await b.engine.stop()
  })

  it('is refused for a key that cannot be, or a lease of less than two store calls', () => {
    const b = bench()
    const work = async (): Promise<void> => {}
    expect(() => b.engine.lead('', work)).toThrow(InvalidArgument)
    expect(() => b.engine.lead('post', work, { ttlMs: 10_000 })).toThrow(/over two store calls \(10000\)/)
  })
})
