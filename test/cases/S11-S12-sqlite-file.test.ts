// What a file of SQLite must stand: a lock that others hold for longer than a lease, and a reader that does not end.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gate } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'

trapUnhandledRejections()

const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-file-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('S11: an outsider that holds the lock for 3 s, under leases of 2 s, doubles no job and loses none', async () => {
  const file = path.join(directory, 'lock.db')
  const clock = virtualClock()
  const intervals = { sweepMs: 100, heartbeatRetryMs: 100, replyMs: 50, pollMs: 50, pollMsMax: 200 }
  const starts: string[] = []
  const done = gate()
  const job = defineJob({
    name: 'job',
    leaseTtlMs: 2_000,
    run: async ({ job: { id } }) => {
      starts.push(id)
      await done.promise
      return id
    },
  })
  const queues = { default: { concurrency: 2 } }
  const engines = ['a', 'b', 'c', 'd'].map((name) => {
    const store = sqliteStore({ file }, { clock, callMs: 500 })
    return { store, engine: createEngine({ store, clock, jobs: [job], queues, intervals, name }) }
  })
  await engines[0]?.store.migrate()
  for (const { engine } of engines) await engine.start()
  const ids = Array.from({ length: 8 }, (_, n) => `j${n}`)
  await engines[0]?.engine.enqueueMany(ids.map((id) => ({ job, input: null, id })))
  await clock.advance(1_000)
  expect(starts.toSorted()).toEqual(ids)
  const outsider = new Database(file, { timeout: 0 })
  outsider.exec('begin immediate')
  await clock.advance(3_000)
  // Nobody can renew, and nobody can take.
  for (const { engine } of engines) expect(engine.health().status).toBe('degraded')
  outsider.exec('commit')
  outsider.close()
  await clock.advance(5_000)
  for (const { engine } of engines) expect(engine.health().status).toBe('ok')
  done.open()
  await clock.advance(1_000)
  for (const id of ids) {
    const stored = await engines[0]?.store.jobs.get({ id })
    expect(stored).toMatchObject({ state: 'succeeded', attempt: 1, evictions: 0, result: `"${id}"` })
  }
  expect(starts).toHaveLength(ids.length)
  const stops = engines.map(({ engine }) => engine.stop())
  await clock.advance(10_000)
  await Promise.all(stops)
  for (const { store } of engines) await store.close()
})

test('S12: 20,000 jobs beside a reader that never ends leave a log that is cut back once it has ended', async () => {
  const file = path.join(directory, 'log.db')
  const clock = virtualClock()
  const store = sqliteStore({ file }, { clock, synchronous: 'normal' })
  await store.migrate()
  const job = defineJob<string>({ name: 'job', run: () => {} })
  const engine = createEngine({ store, clock, jobs: [job], queues: { default: { concurrency: 500 } } })
  const enqueue = (from: number, jobs: number): Promise<unknown> =>
    engine.enqueueMany(
      Array.from({ length: jobs }, (_, n) => ({ job, input: 'x'.repeat(400), id: `j${from + n}` })),
    )
  await enqueue(0, 500)
  const reader = new Database(file, { readonly: true })
  const rows = reader.prepare('select * from holdfast_body').iterate()
  rows.next()
  await engine.start()
  for (let from = 500; from < 20_000; from += 500) {
    await enqueue(from, 500)
    await clock.advance(100)
  }
  await clock.advance(60_000)
  const logBytes = (): number => statSync(`${file}-wal`).size
  const longMiB = logBytes() / 2 ** 20
  expect(longMiB).toBeGreaterThan(8)
  rows.return?.()
  reader.close()
  // Of our own statements none is open, so the next checkpoint finishes, and the log is begun anew.
  await enqueue(20_000, 500)
  await clock.advance(60_000)
  const log = new Database(file)
  expect(log.pragma('wal_checkpoint(truncate)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }])
  expect(logBytes()).toBe(0)
  expect(log.prepare('select state, count(*) as jobs from holdfast_job group by state').all()).toEqual([
    { state: 2, jobs: 20_500 },
  ])
  log.close()
  const stopped = engine.stop()
  await clock.advance(10_000)
  await stopped
  await store.close()
}, 60_000)
