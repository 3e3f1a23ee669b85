// A worker process on a real server to which the worst is done, with jobs in flight: it lives, loses no job, and starts
// none again whose lease it held (S01, 0.21, 8.8).
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { type OwnServer, ownServer } from '../support/postgres/server.ts'
import { type Program, start } from '../support/processes.ts'

const program = new URL('survival/worker.mjs', import.meta.url)
const patienceMs = 120_000

let server: OwnServer
let worker: Program
let names = 0

beforeAll(async () => {
  server = await ownServer()
  const store = postgresStore({ connectionString: server.url })
  await store.migrate()
  await store.close()
})
afterAll(() => server.remove())
afterEach(() => void worker.process.kill('SIGKILL'))

/** A worker with four jobs under way that end when the test says so, and short ones that come and go. */
async function working(): Promise<string> {
  const name = `w${++names}`
  worker = start(program, server.url, name)
  await seen('started', 10)
  await healthy()
  return name
}

function count(kind: string): number {
  return worker.messages.filter((message) => message.kind === kind).length
}

async function seen(kind: string, more = 1): Promise<void> {
  const wanted = count(kind) + more
  await expect.poll(() => count(kind), { timeout: patienceMs / 2 }).toBeGreaterThanOrEqual(wanted)
}

interface Health {
  readonly status: string
  readonly store: { readonly reachable: boolean }
  readonly running: { readonly wakeups: { readonly state: string } } | null
}

async function health(): Promise<Health> {
  const before = count('health')
  worker.process.send('health')
  await expect.poll(() => count('health'), { timeout: patienceMs / 2 }).toBeGreaterThan(before)
  return worker.messages.findLast(({ kind }) => kind === 'health')?.['health'] as Health
}

/** What an operator looks at: all is well again, the way of the hints included. */
async function healthy(): Promise<void> {
  const told = { status: 'ok', store: { reachable: true }, running: { wakeups: { state: 'up' } } }
  await expect.poll(health, { timeout: patienceMs / 2 }).toMatchObject(told)
}

async function onServer<R extends pg.QueryResultRow>(sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return (await client.query<R>(sql)).rows
  } finally {
    await client.end()
  }
}

/** Everything that was acknowledged has ended well, after one start and in the first attempt. */
async function endsWell(name: string): Promise<void> {
  await healthy()
  // It goes on with new work, without being started again.
  await seen('started', 5)
  worker.process.send('finish')
  expect(await worker.ended()).toBe(0)
  const idsOf = (kind: string): string[] =>
    worker.messages.flatMap((message) => (message.kind === kind ? [String(message['id'])] : [])).toSorted()
  const acknowledged = idsOf('acknowledged')
  expect(acknowledged.length).toBeGreaterThan(10)
  expect(idsOf('started')).toEqual(acknowledged)
  const rows = await onServer<{ readonly id: string }>(`select b.id from holdfast.body b
    join holdfast.job j on j.seq = b.seq
    where b.id like '${name}-%' and j.state = 2 and j.attempt = 1 and j.failures = 0 and j.evictions = 0`)
  expect(rows.map(({ id }) => id).toSorted()).toEqual(acknowledged)
}

test(
  'all its connections are terminated, the listening one too: each is told of once',
  async () => {
    const name = await working()
    expect(count('lost')).toBe(0)
    const terminated = await onServer(`select pg_terminate_backend(pid), query from pg_stat_activity
      where application_name = 'holdfast'`)
    expect(terminated.filter(({ query }) => /^(?:listen|select 1$)/.test(String(query)))).toHaveLength(1)
    expect(terminated.length).toBeGreaterThanOrEqual(3)
    await expect.poll(() => count('lost'), { timeout: patienceMs / 2 }).toBe(terminated.length)
    await endsWell(name)
    expect(count('lost')).toBe(terminated.length)
  },
  patienceMs,
)

test(
  'the server is killed, and started again after the leases of its jobs have run out',
  async () => {
    const name = await working()
    await server.kill()
    await seen('attempt.uncertain', 4)
    expect(await health()).toMatchObject({ status: 'degraded', store: { reachable: false } })
    await server.start()
    await endsWell(name)
  },
  patienceMs,
)

test(
  'the server is restarted',
  async () => {
    const name = await working()
    await server.restart()
    await endsWell(name)
    expect(count('lost')).toBeGreaterThan(0)
  },
  patienceMs,
)

test(
  'the server is read-only for more than 5 s, on the connections that there are (25006)',
  async () => {
    const name = await working()
    await server.readOnly(true)
    await seen('attempt.uncertain', 4)
    expect((await health()).store).toMatchObject({ lastError: expect.stringContaining('25006') })
    await server.readOnly(false)
    await endsWell(name)
  },
  patienceMs,
)

test(
  'a failover: a standby of more than 5 s is promoted under the connections that there are',
  async () => {
    const name = await working()
    await server.standby()
    await seen('attempt.uncertain', 4)
    expect(await health()).toMatchObject({ status: 'degraded' })
    await server.promote()
    await endsWell(name)
  },
  patienceMs,
)

test(
  'the server stands still for longer than the leases, and then carries out what it was asked meanwhile',
  async () => {
    const name = await working()
    server.freeze()
    await seen('attempt.uncertain', 4)
    expect(await health()).toMatchObject({ status: 'degraded', store: { reachable: false } })
    server.thaw()
    await endsWell(name)
  },
  patienceMs,
)
