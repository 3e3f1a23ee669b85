// What one session cannot show: calls that meet on the server. A transaction that the test holds open stands for
// the one that is slow; what must wait for it is seen waiting on the server, and what must not wait answers.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type Fixture, createFixture, failure, succeeded } from '../../src/stores/conformance/fixture.ts'
import { checkpoint } from '../../src/stores/postgres/queries/checkpoint.ts'
import { createClaim } from '../../src/stores/postgres/queries/claim.ts'
import type { Session } from '../../src/stores/postgres/database.ts'
import { reclaim } from '../../src/stores/postgres/queries/reclaim.ts'
import { recover } from '../../src/stores/postgres/queries/recover.ts'
import { retry } from '../../src/stores/postgres/queries/command.ts'
import { sweep } from '../../src/stores/postgres/queries/retention.ts'
import { settle } from '../../src/stores/postgres/queries/settle.ts'
import { type Held, hold } from '../support/postgres/held.ts'
import { type MovedServer, movedServer } from '../support/postgres/moved.ts'

let server: MovedServer
/** Looks, and holds nothing. */
let looks: pg.Client
let f: Fixture
let store: InspectableStore
let open: { end(): Promise<void> }[]

beforeAll(async () => {
  server = await movedServer({ connections: 12 })
  looks = await server.connect()
})

afterAll(async () => {
  await looks.end()
  await server.close()
})

beforeEach(async () => {
  open = []
  const opened = await server.open()
  store = opened.store as InspectableStore
  f = await createFixture(opened, 'contention')
})

afterEach(async () => {
  await Promise.all(open.map((one) => one.end()))
})

async function transaction(): Promise<Held> {
  const client = await server.connect()
  open.push(client)
  return hold(client, looks)
}

/** Stores of as many processes. */
function processes(count: number): InspectableStore[] {
  return Array.from({ length: count }, () => {
    const another = server.another()
    open.push({ end: another.close })
    return another
  })
}

/** Sends all calls, and lets none begin before all of them have come to the server. */
async function atOnce<R>(calls: readonly (() => Promise<R>)[]): Promise<R[]> {
  const gun = await transaction()
  await gun.session.query('lock table holdfast.job in access exclusive mode')
  const sent = Promise.all(calls.map((call) => call()))
  await gun.blocks(sent, calls.length)
  await gun.commit()
  return sent
}

/** What `call` answers when `meanwhile` is done, and committed, after it took its snapshot and before it locks a row. */
async function behindItsSnapshot<R>(
  call: (session: Session) => Promise<R>,
  meanwhile: () => Promise<unknown>,
): Promise<R> {
  const [gate, slow] = [await transaction(), await transaction()]
  await gate.session.query('select from pg_advisory_xact_lock(1)')
  // It asks for the time when it has its snapshot, and stops there.
  await slow.session.query('create schema gated')
  await slow.session.query(`create function gated.now() returns timestamptz stable language plpgsql
    as $$ begin perform pg_advisory_xact_lock(1); return sim.now(); end $$`)
  await slow.session.query('set local search_path = gated, sim, pg_catalog')
  const answer = call(slow.session)
  await gate.blocks(answer)
  await meanwhile()
  await gate.rollback()
  const reply = await answer
  await slow.commit()
  await looks.query('drop schema gated cascade')
  return reply
}

describe('races', () => {
  test('of eight workers for one job one gets it, and the others nothing', async () => {
    const id = await f.enqueueOne()
    const stores = processes(8)
    const replies = await atOnce(
      stores.map((each, n) => () => each.claims.claim(f.claimParams({ token: f.name(`t${n}`) }))),
    )
    const jobs = replies.flatMap((reply) => (reply.kind === 'claimed' ? reply.jobs : []))
    expect(jobs).toMatchObject([{ spec: { id }, epoch: 1, attempt: 1 }])
    expect(await f.get(id)).toMatchObject({ state: 'running', epoch: 1, version: 2 })
  })

  test('a contested queue is drained by four claimers, each job once', async () => {
    const ids = await f.enqueue(...Array.from({ length: 20 }, () => ({})))
    const drained = await atOnce(
      processes(4).map((each) => async () => {
        const mine: string[] = []
        for (;;) {
          const reply = await each.claims.claim(f.claimParams({ token: f.name('t'), limit: 2 }))
          if (reply.kind === 'void' || reply.jobs.length === 0) return mine
          mine.push(...reply.jobs.map(({ spec }) => spec.id))
        }
      }),
    )
    expect(drained.flat().toSorted()).toEqual(ids.toSorted())
    for (const id of ids) expect(await f.get(id)).toMatchObject({ epoch: 1, attempt: 1 })
  })

  test('of four reclaimers of twenty jobs each job is taken back by one, and charged once', async () => {
    const ids = await f.enqueue(...Array.from({ length: 20 }, () => ({})))
    for (let n = 0; n < 5; n++) await f.claim({ limit: 4 })
    await f.seen(31_000)
    const taken = await atOnce(processes(4).map((each) => () => each.jobs.reclaim({ limit: 10 })))
    expect(taken.flatMap(({ jobs }) => jobs.map(({ id }) => id)).toSorted()).toEqual(ids.toSorted())
    for (const id of ids) expect(await f.get(id)).toMatchObject({ state: 'queued', epoch: 2, evictions: 1 })
  })
})

describe('a claim that has not committed', () => {
  test('keeps nobody waiting: others claim what it has not taken, in order', async () => {
    const ids = await f.enqueue({}, {}, {}, {})
    const held = await transaction()
    await createClaim(held.database)(f.claimParams({ token: 'slow', limit: 2 }))
    expect((await f.claim({ limit: 1 })).ids).toEqual([ids[2]])
    expect((await f.claim()).ids).toEqual([ids[3]])
    expect((await f.claim()).ids).toEqual([])
    await held.rollback()
    expect((await f.claim()).ids).toEqual(ids.slice(0, 2))
  })

  test('is waited for by its recovery, which then answers its jobs (0.10)', async () => {
    const ids = await f.enqueue({}, {})
    const held = await transaction()
    const params = f.claimParams({ token: 'slow' })
    await createClaim(held.database)(params)
    const recovered = store.claims.recover(params)
    await held.blocks(recovered)
    await held.commit()
    expect(await recovered).toMatchObject({
      kind: 'recovered',
      jobs: ids.map((id) => ({ spec: { id }, epoch: 1 })),
    })
  })

  test('and then dies is void, and its jobs wait as before', async () => {
    const id = await f.enqueueOne()
    const held = await transaction()
    const params = f.claimParams({ token: 'slow' })
    await createClaim(held.database)(params)
    const recovered = store.claims.recover(params)
    await held.blocks(recovered)
    await held.rollback()
    expect(await recovered).toEqual({ kind: 'voided' })
    expect(await f.get(id)).toMatchObject({ state: 'queued', epoch: 0, version: 1 })
    expect((await f.claim()).ids).toEqual([id])
  })

  test('fails whole if its recovery was there first (0.10)', async () => {
    const [id] = (await f.enqueue({}, {})) as [string, string]
    const held = await transaction()
    const params = f.claimParams({ token: 'late' })
    expect(await recover(held.session, params)).toEqual({ kind: 'voided' })
    const late = store.claims.claim(params)
    await held.blocks(late)
    await held.commit()
    expect(await late).toEqual({ kind: 'void' })
    expect(await f.get(id)).toMatchObject({ state: 'queued', epoch: 0, version: 1 })
    expect(await store.claims.claim(params)).toEqual({ kind: 'void' })
  })
})

/** Three jobs of one claim, first to last inserted, which it holds in the opposite order. */
async function threeRunning(): Promise<[string, string, string]> {
  const ids = (await f.enqueue({ band: 3 }, { band: 2 }, { band: 1 })) as [string, string, string]
  expect((await f.claim()).ids).toEqual(ids.toReversed())
  return ids
}

const settling = (ids: readonly string[]) => ({
  worker: f.worker,
  settlements: ids.map((id) => ({ id, epoch: 1, outcome: succeeded, repeated: false })),
})
const settledAs = (settled: string) => ({ results: Array.from({ length: 3 }, () => ({ settled })) })

/** Holds the job in the middle, so that whoever locks from either end has one already when they wait for it. */
async function holdMiddle(id: string): Promise<Held> {
  const held = await transaction()
  await held.session.query(
    'select from holdfast.job where seq = (select seq from holdfast.body where id = $1) for update',
    [id],
  )
  return held
}

describe('writers of the same jobs in no common order', () => {
  test('two settles: one applies, the other is refused, and no deadlock ends either (0.10)', async () => {
    const ids = await threeRunning()
    const [middle, one, other] = [await holdMiddle(ids[1]), await transaction(), await transaction()]
    const first = settle(one.session, settling(ids), null)
    await middle.blocks(first, 1)
    const second = settle(other.session, settling(ids.toReversed()), null)
    await middle.blocks(second, 2)
    await middle.rollback()
    expect(await first).toMatchObject(settledAs('applied'))
    await one.commit()
    expect(await second).toMatchObject(settledAs('lost'))
  })

  test('a reclaim behind a settle takes nothing of it', async () => {
    const ids = await threeRunning()
    await f.seen(31_000)
    const [middle, one, other] = [await holdMiddle(ids[1]), await transaction(), await transaction()]
    const settled = settle(one.session, settling(ids), null)
    await middle.blocks(settled, 1)
    const reclaimed = reclaim(other.session, { limit: 10 })
    await middle.blocks(reclaimed, 2)
    await middle.rollback()
    expect(await settled).toMatchObject(settledAs('applied'))
    await one.commit()
    expect(await reclaimed).toMatchObject({ jobs: [] })
  })

  test('a settle behind a reclaim is refused', async () => {
    const ids = await threeRunning()
    await f.seen(31_000)
    const [middle, one, other] = [await holdMiddle(ids[1]), await transaction(), await transaction()]
    const reclaimed = reclaim(one.session, { limit: 10 })
    await middle.blocks(reclaimed, 1)
    const settled = settle(other.session, settling(ids), null)
    await middle.blocks(settled, 2)
    await middle.rollback()
    expect((await reclaimed).jobs.map(({ id }) => id)).toEqual(ids.toReversed())
    await one.commit()
    expect(await settled).toMatchObject(settledAs('lost'))
  })

  test('no other sweep waits for a settle', async () => {
    const ids = await threeRunning()
    await f.seen(1_200_000)
    const held = await transaction()
    await settle(held.session, settling(ids), null)
    expect(await store.jobs.expireTimeouts({ limit: 10 })).toEqual({ jobs: [] })
    expect(await store.claims.collect({ limit: 10, voidMs: 0 })).toEqual({ removed: 0 })
    expect(await f.move()).toMatchObject({ kind: 'moved', silent: true })
    await looks.query('delete from holdfast.lease')
    expect(await store.jobs.adopt({ limit: 10, silentMs: 0 })).toEqual({ jobs: [] })
    await held.commit()
    expect(await store.claims.collect({ limit: 10, voidMs: 0 })).toEqual({ removed: 1 })
  })
})

describe('a reclaim', () => {
  test('passes over a lease that is being renewed', async () => {
    await f.start()
    await f.seen(31_000)
    const held = await transaction()
    await held.session.query('update holdfast.lease set expires_at = expires_at + 30000')
    expect(await store.jobs.reclaim({ limit: 10 })).toMatchObject({ jobs: [] })
    await held.rollback()
    expect((await store.jobs.reclaim({ limit: 10 })).jobs).toHaveLength(1)
  })

  test('looks at a lease again under its lock: one that was renewed since is silent no more (0.10)', async () => {
    const { id, token } = await f.start()
    await f.seen(31_000)
    const reclaimed = await behindItsSnapshot(
      (session) => reclaim(session, { limit: 10 }),
      () => store.claims.renew({ worker: f.worker, tokens: [token] }),
    )
    expect(reclaimed).toMatchObject({ jobs: [] })
    expect(await f.get(id)).toMatchObject({ state: 'running', epoch: 1 })
  })

  test('waits for a checkpoint on its way, so that nothing of a superseded attempt lands later', async () => {
    const { id } = await f.start()
    await f.seen(31_000)
    const held = await transaction()
    const kept = { id, epoch: 1, key: 'step', value: '1' }
    expect(await checkpoint(held.session, kept)).toEqual({ applied: true })
    const reclaimed = store.jobs.reclaim({ limit: 10 })
    await held.blocks(reclaimed)
    await held.commit()
    expect(await reclaimed).toMatchObject({ jobs: [{ id, epoch: 2 }] })
    expect(await store.jobs.checkpoints({ id })).toEqual([{ key: 'step', value: '1' }])
    expect(await store.jobs.checkpoint(kept)).toEqual({ applied: false })
  })
})

describe('a sweep of what has ended', () => {
  const all = { after: null, limit: 10, deadLetterMs: 0, olderMs: 0 }

  async function dead(): Promise<{
    readonly id: string
    readonly version: number
    readonly command: string
  }> {
    const { id, epoch } = await f.start({ keepMs: 0 })
    await f.settle(id, epoch, failure({ permanent: true }))
    return { id, version: (await f.get(id)).version, command: f.name('command') }
  }

  test('waits for nobody: what is being written is left to a later pass', async () => {
    const [one, other] = [await dead(), await dead()]
    const held = await transaction()
    await retry(held.session, one, null)
    expect((await store.retention.sweep(all)).removed).toEqual([other.id])
    await held.commit()
    expect((await store.retention.sweep(all)).removed).toEqual([])
    expect(await f.get(one.id)).toMatchObject({ state: 'queued' })
  })

  test('looks at a job again under its lock: one that was started anew since stays (15.1)', async () => {
    const letter = await dead()
    const { removed } = await behindItsSnapshot(
      (session) => sweep(session, all),
      () => store.jobs.retry(letter),
    )
    expect(removed).toEqual([])
    expect((await f.claim()).ids).toEqual([letter.id])
  })

  test('of four at once each job is removed by one, and its parts with it', async () => {
    const ids = await f.enqueue(...Array.from({ length: 20 }, () => ({ keepMs: 0, keys: ['a:1', 'b:2'] })))
    for (const { spec, epoch } of (await f.claim()).jobs) {
      await store.jobs.checkpoint({ id: spec.id, epoch, key: 'k', value: '1' })
      await f.settle(spec.id, epoch, succeeded)
    }
    await looks.query(`insert into holdfast.log (seq, next, epoch, line, taken) select seq, 1, 1, 1, 1 from holdfast.job;
      insert into holdfast.log_line select seq, 1, 1, 1, 1, 'x' from holdfast.job`)
    const swept = await atOnce(processes(4).map((each) => () => each.retention.sweep({ ...all, limit: 20 })))
    expect(swept.flatMap(({ removed }) => removed).toSorted()).toEqual(ids.toSorted())
    for (const table of ['job', 'body', 'lookup', 'checkpoint', 'log', 'log_line']) {
      const { rows } = await looks.query(`select count(*)::int as left from holdfast.${table}`)
      expect({ table, ...rows[0] }).toEqual({ table, left: 0 })
    }
  })
})
