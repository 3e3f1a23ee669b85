// Jobs claimed and completed a second on an SQLite file, beside the hand-written ceiling, in turns in one run.
//   node bench/sqlite.mjs [--rounds N] [--directory DIR]
// The ceiling is one table, two statements and no promise kept: no fence, no token, no history, no order over
// kinds. Ours is the store as it ships, `resilient` included, and pays for collecting its claims too.
// Ratios of one run compare; figures of two runs do not. It is a measurement, not a test.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { sqliteStore } from '../dist/stores/sqlite/index.js'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, directory: { type: 'string', default: tmpdir() } },
})
const directory = mkdtempSync(path.join(values.directory, 'holdfast-bench-'))
const payload = JSON.stringify({ n: 1, s: 'x'.repeat(80) })
let files = 0

/** @param {number} jobs @param {() => void | Promise<void>} drain */
async function rate(jobs, drain) {
  const startedMs = performance.now()
  await drain()
  return (jobs / (performance.now() - startedMs)) * 1000
}

/** @param {'full' | 'normal'} synchronous @param {number} jobs @param {number} limit */
async function ceiling(synchronous, jobs, limit) {
  const db = new Database(path.join(directory, `${++files}.db`))
  db.pragma('journal_mode = wal')
  db.pragma(`synchronous = ${synchronous}`)
  db.exec(`create table job (id integer primary key, queue text not null, state int not null default 0,
      priority int not null default 0, run_at int not null, attempt int not null default 0, lease_until int,
      worker int, payload text not null) strict;
    create index job_ready on job (queue, priority, run_at, id) where state = 0;
    create index job_lease on job (lease_until) where state = 1`)
  const add = db.prepare(`insert into job (queue, run_at, payload) values ('q', 0, ?)`)
  const inserts = await rate(
    jobs,
    db.transaction(() => {
      for (let n = 0; n < jobs; n++) add.run(payload)
    }),
  )
  /** @type {Database.Statement<[], { id: number, payload: string, attempt: number }>} */
  const claim = db.prepare(`update job set state = 1, attempt = attempt + 1, worker = 1, lease_until = 30
    where id in (select id from job where queue = 'q' and state = 0 and run_at <= 1
      order by priority, run_at, id limit ${limit}) returning id, payload, attempt`)
  const done = db.prepare(
    'update job set state = 2, lease_until = null where id = ? and state = 1 and worker = 1',
  )
  const finish = db.transaction((/** @type {{ id: number }[]} */ rows) => {
    for (const { id } of rows) done.run(id)
  })
  const drains = await rate(jobs, () => {
    for (;;) {
      const rows = claim.all()
      if (rows.length === 0) return
      if (rows.length === 1) done.run(rows[0]?.id)
      else finish(rows)
    }
  })
  db.close()
  return { inserts, drains }
}

/** @param {'full' | 'normal'} synchronous @param {number} jobs @param {number} limit */
async function ours(synchronous, jobs, limit) {
  const store = sqliteStore({ file: path.join(directory, `${++files}.db`) }, { synchronous })
  await store.migrate()
  const specs = Array.from({ length: jobs }, () => ({
    spec: {
      id: randomUUID(),
      kind: 'send-mail',
      queue: 'default',
      band: 2,
      input: payload,
      inputVersion: 1,
      maxAttempts: 3,
      maxEvictions: 3,
      backoffMs: [1_000, 2_000],
      jitter: false,
      leaseTtlMs: 30_000,
      timeoutMs: 600_000,
      tenant: null,
      keys: [],
      keepMs: 604_800_000,
      lineage: null,
      metadata: null,
      traceparent: null,
      enqueuedAtMs: Date.now(),
    },
    due: { delayMs: 0 },
  }))
  const inserts = await rate(jobs, async () => {
    await store.jobs.insert({ insertId: randomUUID(), jobs: specs })
  })
  const worker = randomUUID()
  const solo = /** @type {const} */ ('take')
  const claiming = { worker, limit, queues: [{ queue: 'default', limit }], kinds: ['send-mail'], solo }
  const drains = await rate(jobs, async () => {
    for (;;) {
      const claimed = await store.claims.claim({ token: randomUUID(), ...claiming })
      if (claimed.kind === 'void' || claimed.jobs.length === 0) break
      const settlements = claimed.jobs.map(({ spec, epoch }) => {
        return /** @type {const} */ ({
          id: spec.id,
          epoch,
          outcome: { kind: 'succeeded', result: null },
          repeated: false,
        })
      })
      const { results } = await store.jobs.settle({ worker, settlements })
      if (results.some(({ settled }) => settled !== 'applied')) throw new Error('a settle did not apply')
    }
    await store.claims.collect({ limit: jobs, voidMs: 86_400_000 })
  })
  await store.close()
  return { inserts, drains }
}

/** @param {readonly number[]} numbers */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN

/** @param {string} what @param {number} best @param {number} own @param {number} ratio */
function line(what, best, own, ratio) {
  const [ceilingRate, ownRate] = [best, own].map((n) => Math.round(n).toLocaleString('en-US').padStart(9))
  console.log(`${what.padEnd(36)} ceiling ${ceilingRate} /s   ours ${ownRate} /s   ratio ${ratio.toFixed(2)}`)
}

console.log(
  `SQLite in ${directory}, medians of ${values.rounds} rounds in turns; target: ratio >= 0.60 at full`,
)
/** @type {readonly (readonly ['full' | 'normal', number, number])[]} */
const cases = [
  ['full', 500, 1],
  ['full', 10_000, 50],
  ['normal', 5_000, 1],
  ['normal', 10_000, 50],
]
try {
  for (const [synchronous, jobs, limit] of cases) {
    const rounds = []
    for (let n = 0; n < Number(values.rounds); n++) {
      rounds.push({
        best: await ceiling(synchronous, jobs, limit),
        own: await ours(synchronous, jobs, limit),
      })
    }
    for (const what of /** @type {const} */ (['drains', 'inserts'])) {
      if (what === 'inserts' && limit === 1) continue
      const name = `${what === 'drains' ? `claim+complete, limit ${limit}` : 'insert in one call'}, ${synchronous}`
      line(
        name,
        median(rounds.map(({ best }) => best[what])),
        median(rounds.map(({ own }) => own[what])),
        median(rounds.map(({ best, own }) => own[what] / best[what])),
      )
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
