import { describe, expect, it } from 'vitest'
import {
  CommandRefused,
  InvalidArgument,
  PermanentFailure,
  StoreUnavailable,
} from '../../../src/engine/errors.ts'
import { replayIdOf } from '../../../src/engine/dead-letters/replay-id.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, type BenchOptions, bench, database, failure } from '../../support/bench.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

interface Failing {
  readonly b: Bench
  /** Enqueues so many jobs that fail for good, one a ms, and answers their ids. */
  readonly die: (...ids: string[]) => Promise<void>
  mended: boolean
}

/** An engine whose jobs fail for good until their upstream is mended. */
async function failing(options: BenchOptions = {}): Promise<Failing> {
  const job = defineJob<string>({
    name: 'job',
    run: () => {
      if (!failing.mended) throw new PermanentFailure('upstream is down')
    },
  })
  const b = bench({ jobs: [job], queues: { default: { concurrency: 50 } }, ...options })
  await b.engine.start()
  const failing: Failing = {
    b,
    mended: false,
    die: async (...ids) => {
      for (const id of ids) {
        await b.engine.enqueue(job, id, { id, priority: 'high', leaseTtlMs: 60_000, keys: { order: id } })
        await b.clock.advance(1)
      }
      await b.clock.advance(40_000)
    },
  }
  return failing
}

const idsOf = ({ jobs }: { readonly jobs: readonly { spec: { id: string } }[] }): string[] =>
  jobs.map(({ spec }) => spec.id)

describe('replay', () => {
  it('makes a new job of the failed one, which runs at once, under an id that follows from its own (16.3)', async () => {
    const f = await failing()
    const { engine, clock, database: base } = f.b
    await f.die('x')
    expect(idsOf(await engine.deadLetters.list())).toEqual(['x'])
    f.mended = true
    expect(await engine.deadLetters.replay('x')).toEqual({ id: 'x~r1', created: true })
    await clock.settle()
    const { spec, state } = await base.job('x~r1')
    expect(state).toBe('succeeded')
    expect(spec).toEqual({
      ...(await base.job('x')).spec,
      id: 'x~r1',
      lineage: { root: 'x', parent: 'x', replays: 1 },
    })
    expect(idsOf(await engine.deadLetters.list())).toEqual([])
    await engine.stop()
  })

  it('that fails again is a dead letter again, and the next counts on from it (E22)', async () => {
    const f = await failing()
    const { engine, clock, database: base } = f.b
    await f.die('x')
    for (const [n, id] of ['x', 'x~r1', 'x~r2'].entries()) {
      expect(await engine.deadLetters.replay(id)).toEqual({ id: `x~r${n + 1}`, created: true })
      await clock.settle()
      expect(idsOf(await engine.deadLetters.list())).toEqual([`x~r${n + 1}`])
    }
    expect((await base.job('x~r3')).spec.lineage).toEqual({ root: 'x', parent: 'x~r2', replays: 3 })
    await engine.stop()
  })

  it('of two that replay one dead letter both learn of the one job (E22)', async () => {
    const f = await failing()
    await f.die('x')
    await f.b.engine.stop()
    const { deadLetters } = f.b.engine
    const both = await Promise.all([deadLetters.replay('x'), deadLetters.replay('x')])
    expect(both).toEqual([
      { id: 'x~r1', created: true },
      { id: 'x~r1', created: false },
    ])
    expect((await f.b.database.raw.dump()).jobs).toHaveLength(2)
  })

  it('says that it created it though the reply to its first try was lost (E09)', async () => {
    const f = await failing()
    await f.die('x')
    await f.b.engine.stop()
    f.b.wire.next('deadLetters.replay', 'lose-reply')
    const replayed = f.b.engine.deadLetters.replay('x')
    await f.b.clock.advance(1_000)
    expect(await replayed).toEqual({ id: 'x~r1', created: true })
    expect((await f.b.database.raw.dump()).jobs).toHaveLength(2)
  })

  it('of what is no dead letter is refused, and says why', async () => {
    const f = await failing()
    const { deadLetters } = f.b.engine
    await f.die('x', 'y')
    f.mended = true
    await f.die('won')
    for (const [id, says] of [
      ['won', 'replay: job won is succeeded, and only a dead letter can be replayed'],
      ['nobody', 'replay: there is no job nobody'],
    ] as const) {
      const error = await failure(deadLetters.replay(id))
      expect(error).toBeInstanceOf(CommandRefused)
      expect(error).toMatchObject({ message: says })
    }
    await deadLetters.discard('y')
    expect(String(await failure(deadLetters.replay('y')))).toContain(
      'is failed, but was discarded, and only a dead letter',
    )
    await f.die('x~r1')
    expect(String(await failure(deadLetters.replay('x')))).toContain(
      'the id x~r1 belongs to another job; retry job x instead',
    )
    expect(await deadLetters.get('x')).not.toBeNull()
    await f.b.engine.stop()
  })
})

describe('the id of a replay', () => {
  const of = (id: string, replays?: number): string =>
    replayIdOf({ id, lineage: replays === undefined ? null : { root: id, parent: 'p', replays } })

  it('counts on from the first job', () => {
    expect(of('x')).toBe('x~r1')
    expect(of('x', 9)).toBe('x~r10')
    expect(replayIdOf({ id: 'x~r1', lineage: { root: 'x', parent: 'x', replays: 1 } })).toBe('x~r2')
  })

  it('is an id however long the first one is, and another for another', () => {
    expect(of('a'.repeat(509))).toBe(`${'a'.repeat(509)}~r1`)
    const long = ['a', 'b'].flatMap((end) => [1, 2].map((n) => of('a'.repeat(511) + end, n)))
    expect(new Set(long).size).toBe(4)
    for (const id of long) expect(id).toMatch(/^a{492}~[0-9a-f]{16}~r[23]$/)
    const odd = of('😀'.repeat(256))
    expect(odd.length).toBeLessThanOrEqual(512)
    expect(odd.isWellFormed()).toBe(true)
  })
})

describe('list and get', () => {
  it('answer whole jobs with their payloads decoded, or as they are stored', async () => {
    const codec = {
      encode: (json: string) => Buffer.from(json).toString('base64'),
      decode: (stored: string) => Buffer.from(stored, 'base64').toString(),
    }
    const f = await failing({ codec })
    await f.die('x')
    const { deadLetters } = f.b.engine
    const { jobs, next } = await deadLetters.list()
    expect(next).toBeNull()
    expect(jobs[0]).toMatchObject({
      spec: { input: '"x"' },
      error: { message: expect.any(String) as string },
    })
    expect(await deadLetters.get('x')).toEqual(jobs[0])
    const stored = await deadLetters.list({ stored: true })
    expect(stored.jobs[0]?.spec.input).toBe(codec.encode('"x"'))
    expect(await deadLetters.replay('x')).toMatchObject({ created: true })
    await f.b.clock.settle()
    expect(await deadLetters.get('x')).toBeNull()
    expect(await deadLetters.get('nobody')).toBeNull()
    await f.b.engine.stop()
  })

  it('go on page by page', async () => {
    const f = await failing()
    await f.die('a', 'b', 'c')
    const { deadLetters } = f.b.engine
    const first = await deadLetters.list({ limit: 2, kind: ['job'], queue: 'default' })
    expect(idsOf(first)).toEqual(['a', 'b'])
    expect(idsOf(await deadLetters.list({ limit: 2, cursor: first.next }))).toEqual(['c'])
    expect(idsOf(await deadLetters.list({ kind: 'other' }))).toEqual([])
    await f.b.engine.stop()
  })

  it('refuse what is no option', async () => {
    const { deadLetters } = bench().engine
    const bad: readonly object[] = [{ limit: 0 }, { limit: 1_001 }, { cursor: 5 }, { cursor: 'x' }]
    for (const options of [...bad, { kind: [] }, { queue: [''] }]) {
      expect(await failure(deadLetters.list(options as never))).toBeInstanceOf(InvalidArgument)
    }
    for (const options of [{ limit: 0 }, { batch: 0 }, { batch: 1_001 }]) {
      expect(await failure(deadLetters.replayAll(options))).toBeInstanceOf(InvalidArgument)
    }
    expect(await failure(deadLetters.replayAll({ kind: 5 } as never))).toBeInstanceOf(InvalidArgument)
    for (const call of ['get', 'replay', 'discard'] as const) {
      expect(await failure(deadLetters[call](''))).toBeInstanceOf(InvalidArgument)
    }
  })
})

describe('discard', () => {
  it('leaves the job failed, again and again, and no dead letter', async () => {
    const f = await failing()
    await f.die('x', 'y')
    const { deadLetters } = f.b.engine
    for (let n = 0; n < 2; n++) await deadLetters.discard('x')
    expect(idsOf(await deadLetters.list())).toEqual(['y'])
    expect((await f.b.database.job('x')).state).toBe('failed')
    await deadLetters.replay('y')
    await f.b.clock.settle()
    expect(String(await failure(deadLetters.discard('y')))).toContain('is replayed as y~r1')
    expect(await failure(deadLetters.discard('nobody'))).toBeInstanceOf(CommandRefused)
    await f.b.engine.stop()
  })
})

/** Between two batches all else goes on. */
async function settled<R>({ b }: Failing, work: Promise<R>): Promise<R> {
  let over = false
  const ended = work.finally(() => (over = true))
  while (!over) await b.clock.settle()
  return ended
}

describe('replayAll', () => {
  const many = Array.from({ length: 250 }, (_, n) => `j${String(n).padStart(3, '0')}`)

  it('replays all, the first first, and not what fails again meanwhile', async () => {
    const f = await failing()
    await f.die(...many)
    const done = await settled(f, f.b.engine.deadLetters.replayAll())
    expect(done).toEqual({ replayed: 250, gone: 0, taken: 0, complete: true })
    await f.b.clock.advance(40_000)
    const { jobs } = await f.b.engine.deadLetters.list({ limit: 1_000 })
    expect(jobs).toHaveLength(250)
    expect(new Set(jobs.map(({ spec }) => spec.lineage?.replays))).toEqual(new Set([1]))
    expect(jobs.map(({ spec }) => spec.lineage?.root ?? '').toSorted()).toEqual(many)
    await f.b.engine.stop()
  })

  it('leaves what died while it ran, though its jobs fail faster than it comes to an end (E22)', async () => {
    const clock = virtualClock()
    const stock = database(clock)
    const { deadLetters } = stock.raw
    // As if every batch took so long that what it made has failed again.
    const replay: typeof deadLetters.replay = async (params) => {
      const reply = await deadLetters.replay(params)
      await clock.advance(1_000)
      return reply
    }
    const slow = { ...stock, raw: { ...stock.raw, deadLetters: { ...deadLetters, replay } } }
    const f = await failing({ clock, database: slow, intervals: { pollMs: 100, pollMsMax: 100 } })
    await f.die(...many)
    const done = await settled(f, f.b.engine.deadLetters.replayAll({ limit: 1_000 }))
    expect(done).toEqual({ replayed: 250, gone: 0, taken: 0, complete: true })
    const { jobs } = await f.b.engine.deadLetters.list({ limit: 1_000 })
    expect(jobs.filter(({ spec }) => spec.lineage?.replays === 1).length).toBeGreaterThan(100)
    await f.b.engine.stop()
  })

  it('goes on where one before was cut off by the store, and loses and doubles none (E22)', async () => {
    const f = await failing()
    await f.die(...many)
    await f.b.engine.stop()
    // Nothing is repeated for this one: each failure ends the call.
    const { engine, wire, database: base } = bench({ database: f.b.database, bare: true })
    for (const fate of ['lose-reply', 'lose-request', 'refuse', 'lose-reply'] as const) {
      wire.next('deadLetters.replay', fate)
      expect(await failure(engine.deadLetters.replayAll())).toBeInstanceOf(StoreUnavailable)
    }
    const rest = await engine.deadLetters.replayAll()
    expect(rest).toEqual({ replayed: 50, gone: 0, taken: 0, complete: true })
    const { jobs } = await base.raw.dump()
    const replays = jobs.filter(({ spec }) => spec.lineage !== null)
    expect(replays.map(({ spec }) => spec.lineage?.parent ?? '').toSorted()).toEqual(many)
    expect(jobs).toHaveLength(500)
  })

  it('ends at a limit and at a signal, and says so', async () => {
    const f = await failing()
    await f.die('a', 'b', 'c', 'd')
    await f.b.engine.stop()
    const { deadLetters } = f.b.engine
    expect(await deadLetters.replayAll({ limit: 2 })).toMatchObject({ replayed: 2, complete: false })
    expect(idsOf(await deadLetters.list())).toEqual(['c', 'd'])
    const stop = new AbortController()
    const cut = deadLetters.replayAll({ batch: 1, signal: stop.signal })
    const told = f.b.clock.timer(0, 'told', () => stop.abort())
    await f.b.clock.settle()
    told.cancel()
    expect(await cut).toMatchObject({ replayed: 1, complete: false })
    const signal = AbortSignal.abort()
    expect(await deadLetters.replayAll({ signal })).toMatchObject({ replayed: 0, complete: false })
    expect(await deadLetters.replayAll({ kind: 'other' })).toMatchObject({ replayed: 0, complete: true })
    expect(await deadLetters.replayAll()).toMatchObject({ replayed: 1, complete: true })
  })

  it('passes over what cannot be replayed, and tells how many', async () => {
    const f = await failing()
    await f.die('x', 'x~r1', 'y')
    await f.b.engine.stop()
    const done = await f.b.engine.deadLetters.replayAll()
    expect(done).toEqual({ replayed: 2, gone: 0, taken: 1, complete: true })
    expect(idsOf(await f.b.engine.deadLetters.list())).toEqual(['x'])
  })
})
