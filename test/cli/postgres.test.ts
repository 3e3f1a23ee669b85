// The operator's commands on a server, under a schema of its own: each says what the engine says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { PermanentFailure } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { desk } from './holdfast.ts'

const at = desk()
const schema = 'jobs_of_mine'
const dies = defineJob({
  name: 'dies',
  run: ({ log }) => {
    log('dies')
    throw new PermanentFailure('not today')
  },
})
let database: Awaited<ReturnType<typeof newDatabase>>
let store: Store
let engine: Engine

beforeAll(async () => {
  database = await newDatabase()
  store = postgresStore({ connectionString: database.url }, { schema })
  await store.migrate()
  engine = createEngine({ store, jobs: [dies], queues: { default: { concurrency: 1 } } })
  await engine.start()
  for (const id of ['a', 'b']) {
    await engine.enqueue(dies, { id }, { id, keys: { order: id } })
    await engine.result(id).catch(() => null)
  }
  await engine.stop()
  for (const key of ['k', 'l'])
    await engine.schedules.put(key, { job: dies, input: null, everyMs: 5_400_000 })
})
afterAll(async () => {
  await store.close()
  await database.drop()
  at.clear()
})

async function run(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await at.run([...args, '--json'], { DATABASE_URL: database.url })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const on = (...args: string[]): Promise<unknown> => run(...args, '--schema', schema)
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('on a server', () => {
  test('jobs and their logs are shown', async () => {
    const first = await engine.list({ limit: 1, payloads: false })
    expect(await on('jobs', '--limit', '1')).toEqual(plain(first))
    expect(await on('jobs', '--cursor', first.next ?? '')).toEqual(
      plain(await engine.list({ cursor: first.next, payloads: false })),
    )
    expect(await on('jobs', '--key', 'order=B')).toMatchObject({ jobs: [{ spec: { id: 'b' } }] })
    expect(await on('jobs', '--counts')).toEqual({ queues: await engine.counts() })
    const one = { job: await engine.get('a'), events: await engine.events('a') }
    expect(await on('jobs', 'a')).toEqual(plain(one))
    expect(await on('logs', 'a')).toEqual(plain(await engine.logs.page('a')))
  })

  test('dead letters are shown, replayed and discarded', async () => {
    expect(await on('dead-letters')).toEqual(plain(await engine.deadLetters.list()))
    expect(await on('dead-letters', 'replay', 'a')).toEqual({
      replays: [{ job: 'a', id: 'a~r1', created: true }],
    })
    expect(await on('dead-letters', 'discard', 'b')).toEqual({ discards: [{ job: 'b', discarded: true }] })
    expect(await on('dead-letters', 'replay', '--all')).toMatchObject({ replayed: 0, complete: true })
  })

  test('schedules are shown, paused, resumed and removed', async () => {
    expect(await on('schedules')).toEqual(plain(await engine.schedules.list()))
    expect(await on('schedules', 'pause', 'k')).toMatchObject({ key: 'k', paused: true, nextAt: null })
    expect(await on('schedules', 'k')).toMatchObject({ schedule: { paused: true }, slots: { length: 5 } })
    expect(await on('schedules', 'resume', 'k')).toEqual(plain(await engine.schedules.get('k')))
    expect(await on('schedules', 'remove', 'k')).toEqual({ key: 'k', removed: true })
  })

  test.concurrent.each(['logs a --follow', 'dead-letters replay --all'])(
    '%s: one that cannot be reached is told with 3, without its password',
    async (line) => {
      const url = 'postgres://me:hunter2-marker@127.0.0.1:1/db'
      const { code, stdout, stderr } = await at.run([...line.split(' '), '--database-url', url])
      expect([code, stdout]).toEqual([3, ''])
      expect(stderr).toMatch(/error: PostgreSQL 127\.0\.0\.1:1\/db, schema holdfast: /)
      expect(stderr).not.toContain('hunter2')
    },
  )
})
