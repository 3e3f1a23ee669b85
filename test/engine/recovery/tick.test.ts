import { describe, expect, it } from 'vitest'
import { InvalidConfig, StoreUnavailable } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, failure } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const job = defineJob({ name: 'job', retry: { backoff: { kind: 'constant', delayMs: 0 } } })

/** A job that a worker claimed before it died. */
async function orphan({ engine, database }: Bench, id = 'x', timeoutMs = 300_000): Promise<void> {
  await engine.enqueue(job, null, { id, timeoutMs })
  await database.raw.claims.claim({
    token: `dead.${id}`,
    worker: 'dead',
    limit: 1,
    queues: [{ queue: 'default', limit: 1 }],
    kinds: ['job'],
    solo: 'take',
  })
}

/** Calls tick every 5 s, as a host's own schedule does. */
async function ticks({ engine, clock }: Bench, count: number): Promise<void> {
  for (let k = 0; k < count; k++) {
    await engine.tick()
    await clock.advance(5_000)
  }
}

describe('tick', () => {
  it('is one whole turn of recovery, and leaves no timer armed', async () => {
    const b = bench()
    await orphan(b)
    const calls = async (): Promise<string[]> => {
      const before = b.wire.calls.length
      await b.engine.tick()
      return b.wire.calls.slice(before).map(({ call }) => call)
    }
    const backstops = ['jobs.expireTimeouts', 'jobs.adopt', 'jobs.repairDispatch', 'claims.collect']
    // Of the first tick of a process retention is due; then every ten minutes.
    const retention = ['retention.sweep', 'retention.sweepLeases']
    expect(await calls()).toEqual([
      'watch.declare',
      'watch.move',
      ...backstops,
      'schedules.due',
      ...retention,
    ])
    await b.clock.advance(30_000)
    const all = ['watch.declare', 'watch.move', 'jobs.reclaim', ...backstops, 'schedules.due']
    expect(await calls()).toEqual(all)
    expect(b.clock.armed).toEqual([])
    expect(b.engine.health()).toMatchObject({ status: 'stopped', running: null, store: { reachable: true } })
  })

  it('called every sweep brings back what a dead worker held within its lease and a sweep (0.20)', async () => {
    const b = bench()
    await b.engine.tick()
    await orphan(b)
    await ticks(b, 6)
    expect(await b.database.job('x')).toMatchObject({ state: 'running', epoch: 1 })
    await b.engine.tick()
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', evictions: 1 })
    expect(b.clock.armed).toEqual([])
  })

  it('takes nothing after a pause longer than two sweeps, until it was called for a whole lease again (0.20)', async () => {
    const b = bench()
    await ticks(b, 10)
    await orphan(b)
    await b.clock.advance(300_000)
    await ticks(b, 6)
    expect(await b.database.job('x')).toMatchObject({ state: 'running', evictions: 0 })
    await b.engine.tick()
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', evictions: 1 })
  })

  it('of several processes in turn watches as one would: what was seen is in the store (0.20)', async () => {
    const one = bench()
    const processes = [one, bench({ clock: one.clock, database: one.database })] as const
    await orphan(one)
    for (let k = 0; k < 7; k++) {
      await processes[k % 2 === 0 ? 0 : 1].engine.tick()
      expect((await one.database.job('x')).state).toBe(k < 6 ? 'running' : 'queued')
      await one.clock.advance(5_000)
    }
  })

  it('honours grace for attempts past their timeout too, and charges them (0.6)', async () => {
    const b = bench()
    await orphan(b, 'x', 10_000)
    const renewed = async (count: number): Promise<void> => {
      for (let k = 0; k < count; k++) {
        await ticks(b, 1)
        await b.database.raw.claims.renew({ worker: 'dead', tokens: ['dead.x'] })
      }
    }
    await renewed(8)
    expect((await b.database.job('x')).state).toBe('running')
    await renewed(1)
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', failures: 1, evictions: 0 })
  })

  it('ends the cancelled job of a dead worker (6.2), and queues what was never dispatched (10.3)', async () => {
    const b = bench()
    await b.engine.tick()
    await orphan(b)
    const { spec } = await b.database.job('x')
    const due = { undispatched: true as const }
    await b.database.raw.jobs.insert({ insertId: 'i', jobs: [{ spec: { ...spec, id: 'y' }, due }] })
    await b.engine.cancel('x')
    await ticks(b, 13)
    expect(await b.database.job('x')).toMatchObject({ state: 'cancelled', evictions: 1 })
    expect((await b.database.job('y')).visibleAtMs).not.toBe(null)
    expect((await b.database.raw.dump()).claims).toEqual([])
  })

  it('is refused where the fleet sweeps at another period, and moves no watch then (0.3)', async () => {
    const b = bench()
    await b.database.raw.watch.declare({ sweepMs: 60_000 })
    await expect(b.engine.tick()).rejects.toThrow(InvalidConfig)
    await expect(b.engine.tick()).rejects.toThrow(/5000 here but 60000/)
    expect(b.wire.sent('watch.move')).toEqual([])
  })

  it('rejects where the store is away, reclaims nothing where the watch did not move, and works again after', async () => {
    const b = bench()
    await orphan(b)
    await b.clock.advance(30_000)
    await b.engine.tick()
    b.wire.down('refuse')
    const refused = failure(b.engine.tick())
    await b.clock.advance(5_000)
    expect(await refused).toBeInstanceOf(StoreUnavailable)
    expect(b.clock.armed).toEqual([])
    b.wire.up()
    b.wire.next('watch.move', 'lose-reply')
    const reclaims = b.wire.sent('jobs.reclaim').length
    const lost = failure(b.engine.tick())
    await b.clock.advance(5_000)
    expect(await lost).toBeInstanceOf(StoreUnavailable)
    expect(b.wire.sent('jobs.reclaim')).toHaveLength(reclaims)
    await b.engine.tick()
    expect(b.wire.sent('jobs.reclaim')).toHaveLength(reclaims + 1)
  })

  it('goes on until nothing is left, and wakes the loop of an engine that is started too', async () => {
    const ran: string[] = []
    const handled = job.handle(({ job: { id } }) => void ran.push(id))
    const b = bench({ jobs: [handled], queues: { default: { concurrency: 500 } } })
    const producer = bench({ clock: b.clock, database: b.database })
    for (let k = 0; k < 150; k++) await orphan(producer, `j${k}`)
    for (let k = 0; k < 6; k++) await ticks(producer, 1)
    expect(ran).toEqual([])
    await producer.engine.tick()
    const left = (await b.database.raw.dump()).jobs.filter(({ state }) => state === 'running')
    expect(left).toEqual([])
    await b.engine.start()
    await b.clock.settle()
    expect(ran).toHaveLength(150)
    await orphan(producer, 'late')
    await b.clock.advance(33_000)
    await b.engine.tick()
    await b.clock.settle()
    expect(ran).toContain('late')
    await b.engine.stop()
  })
})
