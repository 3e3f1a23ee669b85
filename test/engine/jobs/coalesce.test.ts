import { describe, expect, it } from 'vitest'
import { IdConflict, InvalidArgument, StoreUnavailable } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { Enqueued } from '../../../src/engine/jobs/insert.ts'
import type { InsertParams, InsertReply, InspectableStore } from '../../../src/engine/ports/store.ts'
import { rawMemoryStore } from '../../../src/stores/memory/index.ts'
import { type Bench, bench, database, failure } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

trapUnhandledRejections()

const job = defineJob<unknown>({ name: 'job' })
const inserts = ({ wire }: Bench): string[][] =>
  wire.sent('jobs.insert').map((params) => (params as InsertParams).jobs.map(({ spec }) => spec.id))
const enqueue = ({ engine }: Bench, id: string, input: unknown = null): Promise<Enqueued> =>
  engine.enqueue(job, input, { id })

/** One insert hangs, and what is enqueued here waits behind it. */
async function behind(b: Bench, ids: readonly string[], input?: unknown): Promise<Promise<Enqueued>[]> {
  b.wire.next('jobs.insert', 'hang')
  const first = enqueue(b, 'first')
  await b.clock.settle()
  const others = ids.map((id) => enqueue(b, id, input))
  await b.clock.settle()
  return [first, ...others]
}

/** A store that will not have one job, whatever comes with it. */
function refusing(id: string, store: InspectableStore): InspectableStore {
  const insert = async (params: InsertParams): Promise<InsertReply> => {
    if (params.jobs.some(({ spec }) => spec.id === id)) throw new InvalidArgument(`not ${id}`)
    return store.jobs.insert(params)
  }
  return { ...store, jobs: { ...store.jobs, insert } }
}

async function letGo(b: Bench): Promise<void> {
  b.wire.letGo()
  await b.clock.settle()
}

describe('jobs enqueued one by one', () => {
  it('are sent at once, and those that come while an insert is in flight with the next', async () => {
    const b = bench()
    const enqueued = await behind(b, ['c', 'a', 'b'])
    expect(inserts(b)).toEqual([['first']])
    await letGo(b)
    expect(await Promise.all(enqueued)).toEqual(['first', 'c', 'a', 'b'].map((id) => ({ id, created: true })))
    expect(inserts(b)).toEqual([['first'], ['c', 'a', 'b']])
    await enqueue(b, 'later')
    expect(inserts(b).at(-1)).toEqual(['later'])
  })

  it('are durable before their promise resolves, in the order they were enqueued', async () => {
    const b = bench()
    const enqueued = await behind(b, ['c', 'a'])
    b.wire.next('jobs.insert', 'hang-reply')
    await letGo(b)
    let answered = false
    void enqueued[1]?.then(() => (answered = true))
    await b.clock.settle()
    expect(answered).toBe(false)
    expect((await b.database.job('c')).seq).toBeLessThan((await b.database.job('a')).seq)
    await letGo(b)
    expect(answered).toBe(true)
  })

  it('by callers that go on at once are sent together, all of them', async () => {
    const b = bench()
    let calls = 0
    const caller = async (): Promise<void> => {
      while (calls < 50) await b.engine.enqueue(job, null, { id: `call-${calls++}` })
    }
    await Promise.all(Array.from({ length: 10 }, caller))
    expect(inserts(b).map(({ length }) => length)).toEqual([1, 10, 10, 10, 10, 9])
  })

  it('go at most 500 together, and as much as one input may be', async () => {
    const b = bench()
    const ids = Array.from({ length: 501 }, (_, k) => `j${k}`)
    const many = await behind(b, ids)
    await letGo(b)
    await Promise.all(many)
    expect(inserts(b).map(({ length }) => length)).toEqual([1, 500, 1])

    const large = bench()
    const enqueued = await behind(large, ['a', 'b', 'c'], 'x'.repeat(400_000))
    await letGo(large)
    await Promise.all(enqueued)
    expect(inserts(large)).toEqual([['first'], ['a', 'b'], ['c']])
  })

  it('are not many in one: a list is an insert of its own, all or none', async () => {
    const b = bench()
    const enqueued = await behind(b, ['a'])
    await b.engine.enqueueMany([{ job, input: null, id: 'x' }])
    expect(inserts(b)).toEqual([['first'], ['x']])
    await letGo(b)
    await Promise.all(enqueued)
  })
})

describe('a job that is refused', () => {
  it('conflicts alone: the others are stored', async () => {
    const b = bench()
    await enqueue(b, 'taken', 'by another')
    const [, a, taken, z] = await behind(b, ['a', 'taken', 'z'])
    const refused = failure(taken as Promise<Enqueued>)
    await letGo(b)
    expect(await a).toEqual({ id: 'a', created: true })
    expect(await z).toEqual({ id: 'z', created: true })
    expect(await refused).toMatchObject({ ids: ['taken'] })
    expect(await refused).toBeInstanceOf(IdConflict)
    expect((await b.database.job('taken')).spec.input).toBe('"by another"')
  })

  it('is answered as being there if it is the same, and so is the second of two at once', async () => {
    const b = bench()
    await enqueue(b, 'there')
    const [, there, one, two] = await behind(b, ['there', 'twin', 'twin'])
    const other = failure(enqueue(b, 'twin', 'other'))
    await b.clock.settle()
    await letGo(b)
    expect(await there).toEqual({ id: 'there', created: false })
    expect(await one).toEqual({ id: 'twin', created: true })
    expect(await two).toEqual({ id: 'twin', created: false })
    expect(await other).toBeInstanceOf(IdConflict)
    // Never two of one id in one insert: the store could not say which of them was there first.
    for (const ids of inserts(b)) expect(new Set(ids).size).toBe(ids.length)
  })

  it('never reaches the store if it is invalid, and holds nobody up', async () => {
    const b = bench()
    const [, a] = await behind(b, ['a'])
    await expect(b.engine.enqueue(job, null, { id: '' })).rejects.toThrow(InvalidArgument)
    await letGo(b)
    expect(await a).toEqual({ id: 'a', created: true })
  })

  it('by the store itself is found by halves, and the others are stored', async () => {
    const clock = virtualClock()
    const b = bench({ clock, database: database(clock, (time) => refusing('b', rawMemoryStore(time))) })
    const enqueued = await behind(b, ['a', 'b', 'c', 'd'])
    const refused = failure(enqueued[2] as Promise<Enqueued>)
    await letGo(b)
    expect(await refused).toBeInstanceOf(InvalidArgument)
    for (const k of [1, 3, 4]) expect(await enqueued[k]).toMatchObject({ created: true })
  })
})

describe('an insert that nobody answered', () => {
  it('is repeated under its own name: all of it counts as created (0.17)', async () => {
    const b = bench()
    const enqueued = await behind(b, ['a', 'b'])
    b.wire.next('jobs.insert', 'lose-reply')
    b.wire.letGo()
    await b.clock.advance(1_000)
    expect(await Promise.all(enqueued)).toMatchObject([
      { created: true },
      { created: true },
      { created: true },
    ])
    const sent = b.wire.sent('jobs.insert') as InsertParams[]
    expect(new Set(sent.slice(1).map(({ insertId }) => insertId)).size).toBe(1)
  })

  it('is unknown to those in it, and to nobody else', async () => {
    const b = bench({ bare: true })
    const [first, a, z] = await behind(b, ['a', 'z'])
    b.wire.next('jobs.insert', 'lose-reply')
    const unknown = [failure(a as Promise<Enqueued>), failure(z as Promise<Enqueued>)]
    await letGo(b)
    expect(await first).toEqual({ id: 'first', created: true })
    for (const error of await Promise.all(unknown)) {
      expect(error).toBeInstanceOf(StoreUnavailable)
      expect(error).toMatchObject({ sent: 'maybe' })
    }
    expect(await enqueue(b, 'a')).toEqual({ id: 'a', created: false })
    expect(await enqueue(b, 'next')).toEqual({ id: 'next', created: true })
  })
})
