// What waits costs nothing: a backlog adds no statement to an idle loop, and no row that a statement visits.
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { EnqueueRequest } from '../../src/engine/jobs/enqueue.ts'
import type { Observer } from '../../src/engine/ports/observer.ts'
import type { Random } from '../../src/engine/ports/random.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'
import { fleet, stores } from './support.ts'

trapUnhandledRejections()

const minutes = 10
const job = defineJob<unknown>({ name: 'job', run: () => {} })
const dayMs = 86_400_000
/** For whom queues are measured, too. */
const graphing: Observer = { event: () => {}, metric: () => {} }

/** What is there besides the engine that has nothing to do. */
const backlogs: readonly (readonly [string, (n: number) => EnqueueRequest])[] = [
  [
    '10,000 jobs in a queue that it does not work on',
    (n) => ({ job, input: n, queue: 'other', id: `j${n}` }),
  ],
  ['10,000 jobs that are due in a day', (n) => ({ job, input: n, delayMs: dayMs, id: `j${n}` })],
  [
    '10,000 jobs of a kind that it has no handler for',
    (n) => ({ job: defineJob<unknown>({ name: 'foreign' }), input: n, id: `j${n}` }),
  ],
  [
    '5,000 children of one run, and as many of another, all later',
    (n) => ({ job, input: n, delayMs: dayMs, id: `j${n}`, metadata: { run: `run-${n % 2}` } }),
  ],
]

function batches(request: (n: number) => EnqueueRequest): EnqueueRequest[][] {
  return Array.from({ length: 20 }, (_, k) => Array.from({ length: 500 }, (_item, n) => request(k * 500 + n)))
}

describe.each(stores)('store calls of an idle engine on %s', (_name, open) => {
  async function calls(request: ((n: number) => EnqueueRequest) | null): Promise<Record<string, number>> {
    const all = fleet(open)
    const producer = all.process()
    for (const batch of request ? batches(request) : []) await producer.engine.enqueueMany(batch)
    const idle = all.process({ jobs: [job], observer: graphing })
    await idle.engine.start()
    await all.clock.advance(minutes * 60_000)
    const counts: Record<string, number> = {}
    for (const { call } of idle.wire.calls) counts[call] = (counts[call] ?? 0) + 1
    await all.stop()
    return counts
  }

  test.each(backlogs)('are the same beside %s', async (_what, request) => {
    const alone = await calls(null)
    expect(Object.keys(alone).sort()).toEqual([
      'claims.claim',
      'claims.collect',
      'jobs.adopt',
      'jobs.expireTimeouts',
      'jobs.queueAges',
      'jobs.repairDispatch',
      'retention.sweep',
      'retention.sweepLeases',
      'schedules.due',
      'watch.declare',
      'watch.move',
    ])
    expect(await calls(request)).toEqual(alone)
  })
})

describe('statements of an idle engine on SQLite', () => {
  interface Ran {
    readonly counts: ReadonlyMap<string, number>
    /** Steps of a plan that read a whole table or index, and those that sort. */
    readonly scans: readonly string[]
  }

  async function idle(request: ((n: number) => EnqueueRequest) | null): Promise<Ran> {
    const clock = virtualClock()
    const counts = new Map<string, number>()
    let watching = false
    const database = new Database(':memory:', {
      verbose: (sql) => {
        // With its parameters filled in; the same statement at another time is the same.
        const text = String(sql)
          .replaceAll(/\d{4,}(?:\.\d+)?/g, '0')
          .replaceAll(/'[^']*~[^']*'/g, "'w'")
        if (watching) counts.set(text, (counts.get(text) ?? 0) + 1)
      },
    })
    let ids = 0
    const random: Random = { id: (stream) => `${stream}~${++ids}`, unit: () => 0.5 }
    const store = sqliteStore({ database }, { clock, random })
    await store.migrate()
    const queues = { default: { concurrency: 5 } }
    const engine = createEngine({ store, clock, random, jobs: [job], queues, observer: graphing })
    for (const batch of request ? batches(request) : []) await engine.enqueueMany(batch)
    // The planner must not need to be told how much there is.
    watching = true
    await engine.start()
    await clock.advance(minutes * 60_000)
    watching = false
    const scans = [...counts.keys()].filter(isQuery).flatMap((sql) => scansOf(database, sql))
    await stopNow({ engine, clock } as never)
    database.close()
    return { counts, scans }
  }

  test('are counted at all, and a scan of the jobs would be seen', async () => {
    const { counts } = await idle(null)
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    expect(total).toBeGreaterThan(minutes * 12 * 4)
    const database = new Database(':memory:')
    database.exec('create table holdfast_job (seq integer primary key, state integer)')
    expect(scansOf(database, 'select * from holdfast_job where state = 0')).toEqual(['SCAN holdfast_job'])
  })

  test.each(backlogs)('are the same beside %s, and none reads through the jobs', async (_what, request) => {
    const alone = await idle(null)
    const beside = await idle(request)
    expect(beside.counts).toEqual(alone.counts)
    expect(beside.scans.filter(ofJobs).sort()).toEqual(partial)
    expect(alone.scans.filter(ofJobs).sort()).toEqual(partial)
  })
})

/** Whole indexes that hold nothing but what is asked for, whatever else waits: on last evictions, and undispatched. */
const partial = [
  'SCAN holdfast_job USING COVERING INDEX holdfast_job_solo',
  'SCAN j USING INDEX holdfast_job_undispatched',
]

function isQuery(sql: string): boolean {
  return /^(?:select|update|insert|delete|with)\b/i.test(sql)
}

function scansOf(database: Database.Database, sql: string): string[] {
  const plan = database.prepare<[], { readonly detail: string }>(`explain query plan ${sql}`).all()
  return plan.map(({ detail }) => detail).filter((detail) => /^SCAN|TEMP B-TREE/.test(detail))
}

/** Of the rows of jobs, by whichever name: `j` and `b` are what statements call them. */
function ofJobs(scan: string): boolean {
  return /^SCAN (?:holdfast_job|holdfast_body|j|b)\b/.test(scan)
}
