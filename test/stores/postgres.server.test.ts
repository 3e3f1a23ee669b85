// The tests' own server can do what its docstring says; what the store makes of it is tested elsewhere.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OwnServer, ownServer } from '../support/postgres/server.ts'

let server: OwnServer

beforeAll(async () => {
  server = await ownServer()
  await once('create table kept (n int)')
})
afterAll(() => server.remove())

async function once(sql: string): Promise<unknown[]> {
  const client = await connected()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => {})
  await client.connect()
  return client
}

const write = 'insert into kept values (1)'
const readOnly = { code: '25006' }

test('killed: connections end, the port refuses, and what was committed is there after the start', async () => {
  await once(write)
  const client = await connected()
  const ended = new Promise((resolve) => client.once('end', resolve))
  await server.kill()
  await ended
  await expect(once('select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await server.start()
  expect(await once('select n from kept')).toEqual([{ n: 1 }])
  await once('truncate kept')
})

test('frozen: nothing answers until it is thawed, and then what was sent meanwhile is carried out', async () => {
  const client = await connected()
  server.freeze()
  let answered = false
  const sent = client.query(write).then(() => void (answered = true))
  // The kernel still takes connections; a server that ran would have greeted this one, and answered the other.
  const waiting = new pg.Client({ connectionString: server.url, connectionTimeoutMillis: 300 })
  await expect(waiting.connect()).rejects.toThrow(/timeout/)
  expect(answered).toBe(false)
  server.thaw()
  await sent
  await client.end()
  expect(await once('select n from kept')).toEqual([{ n: 1 }])
})

test('read-only, on the connections that there are, and back', async () => {
  const client = await connected()
  await server.readOnly(true)
  await expect(client.query(write)).rejects.toMatchObject(readOnly)
  await server.readOnly(false)
  await client.query(write)
  await client.end()
})

test('a standby reads, takes no writes and locks no rows, until it is promoted', async () => {
  await server.standby()
  const client = await connected()
  await client.query('select n from kept')
  await expect(client.query(write)).rejects.toMatchObject(readOnly)
  await expect(client.query('select n from kept for update')).rejects.toMatchObject(readOnly)
  await server.promote()
  await client.query(write)
  await client.end()
})

test('a restart ends connections and is back when it resolves', async () => {
  const client = await connected()
  const ended = new Promise((resolve) => client.once('end', resolve))
  await server.restart()
  await ended
  expect(await once('select 1 as one')).toEqual([{ one: 1 }])
})
