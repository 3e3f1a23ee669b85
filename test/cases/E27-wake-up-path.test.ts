// The way of the wake-ups dies: at boot, in the middle of the run, while it comes back. Polls find every job meanwhile,
// health says so, and it comes back by itself. On a real server; the listening goes through a proxy.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { type PostgresOptions, postgresStore } from '../../src/stores/postgres/index.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { type Proxy, createProxy } from '../support/postgres/proxy.ts'
import pg from 'pg'

let database: Awaited<ReturnType<typeof newDatabase>>
let proxy: Proxy
let producer: Engine
let open: (() => Promise<void>)[]
let done: string[]

/** Longer than any of these tests takes: what runs sooner was not found by a poll. */
const farMs = 3_600_000
const nearMs = 50

beforeAll(async () => {
  database = await newDatabase()
  const store = postgresStore({ connectionString: database.url })
  await store.migrate()
  producer = createEngine({ store })
})

afterAll(async () => {
  await producer.store.close()
  await database.drop()
})

beforeEach(async () => {
  open = []
  done = []
  proxy = await createProxy(database.url)
})

afterEach(async () => {
  for (const close of open) await close()
  await proxy.close()
})

const job = defineJob({ name: 'job' })

async function worker(pollMs: number, options: PostgresOptions = {}): Promise<Engine> {
  const notify = { connectionString: proxy.url }
  const store = postgresStore({ connectionString: database.url }, { notify, callMs: 2_000, ...options })
  const engine = createEngine({
    store,
    jobs: [job.handle(async ({ input }) => void done.push(String(input)))],
    queues: { default: { concurrency: 1 } },
    intervals: { pollMs, pollMsMax: pollMs },
  })
  open.push(async () => {
    await engine.stop({ drainMs: 0 })
    await store.close()
  })
  await engine.start()
  return engine
}

const wakeups = (engine: Engine): unknown => engine.health().running?.wakeups.state
async function becomes(engine: Engine, state: 'up' | 'down'): Promise<void> {
  await expect.poll(() => wakeups(engine), { timeout: 20_000 }).toBe(state)
}
async function runs(id: string): Promise<void> {
  await producer.enqueue(job, id, { id })
  await expect.poll(() => done, { timeout: 20_000 }).toContain(id)
}

test('an idle worker finds a job at once, long before it would poll', async () => {
  const engine = await worker(farMs)
  await becomes(engine, 'up')
  await runs('at-once')
  expect(engine.health().status).toBe('ok')
})

test('refused at boot: polls find jobs, health says so, and it comes up by itself', async () => {
  await proxy.refuse()
  const engine = await worker(nearMs)
  await runs('boot')
  expect(engine.health()).toMatchObject({ status: 'degraded', running: { wakeups: { state: 'down' } } })
  await expect.poll(() => engine.health().running?.wakeups.why).toMatch(/ECONNREFUSED/)
  await proxy.accept()
  await becomes(engine, 'up')
})

test('cut in the middle, and what became due meanwhile is found as soon as it is back', async () => {
  const engine = await worker(farMs)
  const events: boolean[] = []
  engine.on('wakeups.changed', ({ up }) => void events.push(up))
  await becomes(engine, 'up')
  await proxy.refuse()
  await becomes(engine, 'down')
  await producer.enqueue(job, 'meanwhile')
  await proxy.accept()
  await expect.poll(() => done, { timeout: 20_000 }).toEqual(['meanwhile'])
  expect(events).toEqual([true, false, true])
})

test('ended by the server: the process lives, it is told of once, and comes back (S01)', async () => {
  const lost: Error[] = []
  const engine = await worker(nearMs, { onConnectionLost: (error) => void lost.push(error) })
  await becomes(engine, 'up')
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  const { rowCount } = await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen%'`)
  await admin.end()
  expect(rowCount).toBe(1)
  await expect.poll(() => lost.length).toBe(1)
  await becomes(engine, 'up')
  await runs('after')
  expect(lost).toMatchObject([{ code: '57P01' }])
})

test('a pooler in between, which would swallow all of it, is found out', async () => {
  proxy.renames = true
  const engine = await worker(nearMs)
  await expect.poll(() => engine.health().running?.wakeups.why).toMatch(/a pooler is in between/)
  await runs('pooled')
  expect(wakeups(engine)).toBe('down')
})

test('switched off: nobody listens, and polls find the jobs', async () => {
  const engine = await worker(nearMs, { notify: false })
  await runs('off')
  expect(engine.health()).toMatchObject({ status: 'ok', running: { wakeups: { state: 'off' } } })
  expect(proxy.made).toBe(0)
})
