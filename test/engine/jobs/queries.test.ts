import { describe, expect, it } from 'vitest'
import { CodecFailed, HoldfastError, PermanentFailure } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, failure } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const noop = defineJob<{ n: number }>({ name: 'noop', run: () => {} })
const other = defineJob<{ n: number }>({ name: 'other', queue: 'second', run: () => {} })
const breaks = defineJob<{ n: number }>({
  name: 'breaks',
  run: () => {
    throw new PermanentFailure('it is broken')
  },
})

/** An engine that only asks. */
function asking(): Bench {
  return bench({ jobs: [noop, other, breaks] })
}

const ids = (jobs: readonly { readonly spec: { readonly id: string } }[]): string[] =>
  jobs.map(({ spec }) => spec.id)

describe('list', () => {
  it('answers 50 jobs a page, the newest first, until there is no next (12.2)', async () => {
    const { engine } = asking()
    const requests = Array.from({ length: 120 }, (_, n) => ({ job: noop, input: { n }, id: `j${n}` }))
    await engine.enqueueMany(requests)
    const first = await engine.list()
    expect(first.jobs).toHaveLength(50)
    expect(first.jobs[0]).toEqual(await engine.get('j119'))
    const second = await engine.list({ cursor: first.next })
    const third = await engine.list({ cursor: second.next, limit: 21 })
    expect(third.next).toBe(null)
    const all = [first, second, third].flatMap(({ jobs }) => ids(jobs))
    expect(all).toEqual(requests.map(({ id }) => id).reverse())
  })

  it('takes one value or several of a filter, a Date, and keys as a producer states them (12.1)', async () => {
    const { engine, clock } = asking()
    await engine.enqueue(noop, { n: 1 }, { id: 'a', keys: { run: 'Nightly', order: ['1', '2'] } })
    await clock.advance(1_000)
    await engine.enqueue(other, { n: 1 }, { id: 'b', tenant: 'acme', keys: { run: 'nightly' } })
    const { createdAtMs } = (await engine.get('b')) as { createdAtMs: number }
    await engine.cancel('b')
    const listed = async (options: Parameters<typeof engine.list>[0]) =>
      ids((await engine.list(options)).jobs)
    expect(await listed({ state: 'cancelled' })).toEqual(['b'])
    expect(await listed({ state: ['cancelled', 'queued'] })).toEqual(['b', 'a'])
    expect(await listed({ kind: 'noop' })).toEqual(['a'])
    expect(await listed({ kind: ['noop', 'other', 'noop'] })).toEqual(['b', 'a'])
    expect(await listed({ queue: 'second' })).toEqual(['b'])
    expect(await listed({ tenant: 'acme' })).toEqual(['b'])
    expect(await listed({ tenant: null })).toEqual(['a'])
    expect(await listed({ keys: { run: ' NIGHTLY ' } })).toEqual(['b', 'a'])
    expect(await listed({ keys: { run: 'nightly', order: ['2', '1'] } })).toEqual(['a'])
    expect(await listed({ keys: { run: 'nightly' }, tenant: 'acme', state: 'cancelled' })).toEqual(['b'])
    expect(await listed({ createdFrom: new Date(createdAtMs) })).toEqual(['b'])
    expect(await listed({ createdTo: new Date(createdAtMs) })).toEqual(['a'])
    expect(await listed({ dead: true })).toEqual([])
  })

  it('without payloads has neither input nor result; with them, both as get has them', async () => {
    const b = bench({ jobs: [noop], queues: { default: { concurrency: 1 } } })
    await b.engine.enqueue(noop, { n: 7 }, { id: 'a' })
    const { jobs } = await b.engine.list({ payloads: false })
    expect(jobs[0]).not.toHaveProperty('result')
    expect(jobs[0]?.spec).not.toHaveProperty('input')
    expect(jobs[0]?.spec.id).toBe('a')
    expect((await b.engine.list({ payloads: true })).jobs).toEqual([await b.engine.get('a')])
    expect((await b.engine.list()).jobs[0]?.spec.input).toBe('{"n":7}')
  })

  it('decodes payloads as get does; what cannot be decoded fails the page, and can be done without (0.23)', async () => {
    const codec = {
      encode: (json: string) => `~${json}`,
      decode: (stored: string) => {
        if (!stored.startsWith('~')) throw new Error('not of this codec')
        return stored.slice(1)
      },
    }
    const b = bench({ jobs: [noop], codec })
    await b.engine.enqueue(noop, { n: 1 }, { id: 'a', keys: { run: 'r' } })
    expect((await b.engine.list()).jobs[0]?.spec.input).toBe('{"n":1}')
    expect((await b.engine.jobsOf({ run: 'r' })).jobs[0]?.spec.input).toBe('{"n":1}')
    const strange = bench({
      jobs: [noop],
      codec: { ...codec, decode: () => codec.decode('x') },
      database: b.database,
    })
    expect(await failure(strange.engine.list())).toBeInstanceOf(CodecFailed)
    expect(ids((await strange.engine.list({ payloads: false })).jobs)).toEqual(['a'])
  })

  it.each<[string, object, RegExp]>([
    ['a limit of nothing', { limit: 0 }, /limit must be a whole number from 1 to 1000/],
    ['a limit beyond it', { limit: 1_001 }, /from 1 to 1000, not 1001/],
    ['half a limit', { limit: 1.5 }, /limit/],
    ['a cursor of its own making', { cursor: 'abc' }, /cursor must be one that a page has answered/],
    ['a cursor that is a number', { cursor: 5 }, /cursor must be the next of a page, not 5/],
    ['a state that is none', { state: 'dead' }, /state must be of queued, running/],
    ['no state at all', { state: [] }, /state must name at least one, or be left out/],
    ['a state among others', { state: ['queued', 7] }, /state must be of .*, not 7/],
    ['a kind without a name', { kind: '' }, /a kind must be a string/],
    ['a queue of another type', { queue: [7] }, /a queue must be a string/],
    ['a tenant of another type', { tenant: 7 }, /a tenant must be a string/],
    ['keys that are a list', { keys: ['run:X'] }, /keys must be an object/],
    ['a dimension that is none', { keys: { 'A B': 'x' } }, /dimension/],
    ['a blank key', { keys: { run: ' ' } }, /must not be blank/],
    ['a time that is a number', { createdFrom: 5 }, /createdFrom must be a valid Date, not 5/],
    ['a time that is none', { createdTo: new Date(Number.NaN) }, /createdTo must be a valid Date/],
    ['dead as a word', { dead: 'yes' }, /dead must be true or false/],
    ['payloads as a word', { payloads: 'no' }, /payloads must be true or false/],
    ['options that are none', ['x'], /options must be an object/],
  ])('refuses %s', async (_, options, says) => {
    const error = await failure(asking().engine.list(options))
    expect(error).toBeInstanceOf(HoldfastError)
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(says) as string })
  })
})

describe('listAll', () => {
  it('reads page after page, as long as it is asked to', async () => {
    const b = asking()
    const { engine } = b
    await engine.enqueueMany(Array.from({ length: 7 }, (_, n) => ({ job: noop, input: { n }, id: `j${n}` })))
    const pages: string[][] = []
    for await (const page of engine.listAll({ limit: 3, payloads: false })) pages.push(ids(page.jobs))
    expect(pages).toEqual([['j6', 'j5', 'j4'], ['j3', 'j2', 'j1'], ['j0']])
    const asked = b.wire.sent('queries.list').length
    for await (const page of engine.listAll({ limit: 2 })) {
      expect(page.jobs).toHaveLength(2)
      break
    }
    expect(b.wire.sent('queries.list').length).toBe(asked + 1)
  })

  it('goes on from a cursor, and of nothing has one empty page', async () => {
    const { engine } = asking()
    const pages: unknown[] = []
    for await (const page of engine.listAll()) pages.push(page)
    expect(pages).toEqual([{ jobs: [], next: null }])
    await engine.enqueueMany(Array.from({ length: 3 }, (_, n) => ({ job: noop, input: { n }, id: `j${n}` })))
    const { next } = await engine.list({ limit: 1 })
    for await (const page of engine.listAll({ cursor: next })) expect(ids(page.jobs)).toEqual(['j1', 'j0'])
  })

  it('refuses at once what list refuses', () => {
    expect(() => asking().engine.listAll({ limit: 0 })).toThrow(/limit must be/)
  })
})

describe('jobsOf', () => {
  it('answers all jobs with the keys in one query', async () => {
    const b = asking()
    const { engine } = b
    const requests = Array.from({ length: 1_500 }, (_, n) => ({
      job: noop,
      input: { n },
      id: `j${n}`,
      keys: { run: 'x', half: String(n % 2) },
      ...(n % 500 === 1 && { tenant: 'acme' }),
    }))
    await engine.enqueueMany(requests)
    const { jobs, more } = await engine.jobsOf({ run: 'X' })
    expect([jobs.length, more]).toEqual([1_500, false])
    expect(ids(jobs)).toEqual(requests.map(({ id }) => id).reverse())
    expect((await engine.jobsOf({ run: 'x', half: '1' }, { payloads: false })).jobs).toHaveLength(750)
    expect(ids((await engine.jobsOf({ run: 'x' }, { tenant: 'acme' })).jobs)).toEqual(['j1001', 'j501', 'j1'])
    expect(await engine.jobsOf({ run: 'y' })).toEqual({ jobs: [], more: false })
    expect(b.wire.sent('queries.list')).toHaveLength(4)
  })

  it('says when there are more than it answers', async () => {
    const { engine } = asking()
    const keys = { run: 'x' }
    await engine.enqueueMany(Array.from({ length: 10_001 }, (_, n) => ({ job: noop, input: { n }, keys })))
    const { jobs, more } = await engine.jobsOf(keys, { payloads: false })
    expect([jobs.length, more]).toEqual([10_000, true])
  })

  it.each([[{}], [undefined], ['run'], [{ run: [] }]])('refuses %j, which names no key', async (keys) => {
    const error = await failure(asking().engine.jobsOf(keys as never))
    expect(error).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/keys/) as string,
    })
  })
})

describe('counts', () => {
  it('tells how many jobs of each queue wait for what', async () => {
    const { engine } = asking()
    expect(await engine.counts()).toEqual([])
    await engine.enqueue(other, { n: 1 })
    await engine.enqueue(noop, { n: 1 }, { delayMs: 5_000 })
    await engine.enqueue(noop, { n: 2 })
    const none = { undispatched: 0, running: 0, dead: 0 }
    expect(await engine.counts()).toEqual([
      { queue: 'default', due: 1, delayed: 1, ...none },
      { queue: 'second', due: 1, delayed: 0, ...none },
    ])
  })
})

describe('events', () => {
  it('tells what became of a job, from its creation to its end', async () => {
    const b = bench({ jobs: [noop, breaks], queues: { default: { concurrency: 1 } } })
    const { engine, clock } = b
    await engine.enqueue(breaks, { n: 1 }, { id: 'x', delayMs: 1_000 })
    await engine.reschedule('x', { delayMs: 0 })
    await engine.start()
    await clock.settle()
    const [created, moved, failed, ended, ...more] = (await engine.events('x')) ?? []
    const { createdAtMs, finishedAtMs, error } = await b.database.job('x')
    expect(created).toEqual({ kind: 'created', atMs: createdAtMs })
    expect(moved).toMatchObject({ kind: 'rescheduled', attempt: 0 })
    expect(failed).toMatchObject({
      kind: 'failed',
      attempt: 1,
      epoch: 1,
      error: { code: 'PERMANENT_FAILURE' },
    })
    expect(ended).toEqual({ kind: 'ended', atMs: finishedAtMs, state: 'failed', attempt: 1, epoch: 1, error })
    expect(more).toEqual([])
    await engine.enqueue(noop, { n: 1 }, { id: 'y' })
    await clock.settle()
    expect((await engine.events('y'))?.at(-1)).toMatchObject({
      kind: 'ended',
      state: 'succeeded',
      error: null,
    })
    await engine.stop()
  })

  it('tells what was done about a dead letter after its end', async () => {
    const { engine, clock } = bench({ jobs: [breaks], queues: { default: { concurrency: 1 } } })
    for (const id of ['x', 'y']) await engine.enqueue(breaks, { n: 1 }, { id })
    await engine.start()
    await clock.settle()
    await engine.deadLetters.replay('x')
    await engine.deadLetters.discard('y')
    await clock.settle()
    const kinds = async (id: string) => (await engine.events(id))?.map(({ kind }) => kind)
    expect(await kinds('x')).toEqual(['created', 'failed', 'ended', 'replayed'])
    expect(await kinds('y')).toEqual(['created', 'failed', 'ended', 'discarded'])
    await engine.stop()
  })

  it('of a job that is retried has no end any more, and of none nothing', async () => {
    const { engine } = asking()
    await engine.enqueue(noop, { n: 1 }, { id: 'x' })
    await engine.cancel('x')
    const kinds = async () => (await engine.events('x'))?.map(({ kind }) => kind)
    expect((await kinds())?.at(-1)).toBe('ended')
    await engine.retry('x')
    expect((await kinds())?.at(-1)).toBe('retried')
    expect(await engine.events('nobody')).toBe(null)
    expect(await failure(engine.events(''))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
