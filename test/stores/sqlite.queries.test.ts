// What lists and counts read on SQLite, on its own word, and sequences beyond what a number holds.
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ListParams } from '../../src/engine/ports/queries.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { cursorAt } from '../../src/stores/paging.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { inserting } from '../support/inserting.ts'

const said: string[] = []
let db: Database.Database
let store: InspectableStore

beforeAll(async () => {
  db = new Database(':memory:', { verbose: (sql) => void said.push(String(sql)) })
  store = sqliteStore({ database: db })
  await store.migrate()
})
afterAll(() => void db.close())

/** The plans of what the question asks, a line a step. */
async function plansOf(ask: () => Promise<unknown>): Promise<string[]> {
  said.length = 0
  await ask()
  const asked = said.filter((sql) => sql.startsWith('select'))
  return asked.flatMap((sql) =>
    db
      .prepare<[], { detail: string }>(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => detail),
  )
}

const page = { limit: 50, cursor: null, payloads: true }
const byKey = 'USING INTEGER PRIMARY KEY (rowid=?)'
/** How the rows of a page are read once it is known which they are. */
const ofThePage = ['SCAN p', `SEARCH j ${byKey}`, `SEARCH b ${byKey}`, `SEARCH c ${byKey} LEFT-JOIN`]
const listed = (filter: Partial<ListParams>) => () => store.queries.list({ ...page, ...filter })

describe('the plan of a list', () => {
  it.each<[string, Partial<ListParams>, string[]]>([
    ['first page: backwards by the primary key', {}, ['SCAN l']],
    ['page n: from there on', { cursor: cursorAt('9') }, ['SEARCH l USING INTEGER PRIMARY KEY (rowid<?)']],
    ['by state', { states: ['failed'] }, ['SCAN l']],
    ['by kind and queue', { kinds: ['k'], queues: ['q'] }, ['SCAN l']],
    ['by time, of nobody', { tenant: null, createdFromMs: 5, createdToMs: 6 }, ['SCAN l']],
    ['by a key', { keys: ['run:X'] }, ['SEARCH l USING PRIMARY KEY (key=?)']],
    [
      'by tenant and state, page n',
      { tenant: 't', states: ['failed'], cursor: cursorAt('9') },
      ['SEARCH l USING PRIMARY KEY (key=? AND seq<?)', `SEARCH j ${byKey}`],
    ],
  ])('%s, and sorts nothing', async (_, filter, expected) => {
    const steps = await plansOf(listed(filter))
    const ofLists = /LIST SUBQUERY|json_each|BLOOM/
    expect(steps.filter((step) => !ofLists.test(step))).toEqual(['CO-ROUTINE p', ...expected, ...ofThePage])
  })

  it('by several keys: follows the rarest of them, and looks each row up under all', async () => {
    const steps = await plansOf(listed({ keys: ['run:X', 'order:Y'] }))
    expect(steps[1]).toBe('SEARCH l USING PRIMARY KEY (key=?)')
    const others = steps.filter((step) => /^SEARCH k.*USING PRIMARY KEY \(key=\? AND seq=\?\)/.test(step))
    expect(others).toHaveLength(2)
    expect(steps.filter((step) => step.startsWith('SCAN holdfast'))).toEqual([])
  })

  it.each<[string, Partial<ListParams>, RegExp]>([
    ['waits', { states: ['queued'] }, /COVERING INDEX holdfast_job_(ready|solo|undispatched)/],
    ['is dead', { dead: true }, /COVERING INDEX holdfast_job_dead/],
    ['runs', { states: ['running'] }, /^SCAN c$/],
  ])('of what %s reads no other job, and sorts sequences alone', async (_, filter, lead) => {
    const steps = await plansOf(listed(filter))
    const page = steps.slice(steps.indexOf('CO-ROUTINE p'))
    expect(page.some((step) => lead.test(step))).toBe(true)
    expect(page.filter((step) => /^(SCAN|SEARCH) (l|holdfast_job|holdfast_body)$/.test(step))).toEqual([])
    // The sort is over before the first row of the page is read.
    expect(page.slice(page.indexOf('SCAN p'))).toEqual(ofThePage)
  })

  it('of counts reads the indexes of what waits, runs and is dead', async () => {
    const steps = await plansOf(() => store.queries.counts())
    const ofJobs = steps.filter((step) => /^(SCAN|SEARCH) j /.test(step))
    expect(ofJobs.map((step) => / INDEX (\w+)/.exec(step)?.[1] ?? 'by key')).toEqual([
      'holdfast_job_ready',
      'holdfast_job_solo',
      'holdfast_job_undispatched',
      'by key',
      'holdfast_job_dead',
    ])
  })
})

describe('sequences beyond 2^53', () => {
  it('are told apart by cursors', async () => {
    const before = 2n ** 53n - 1n
    await store.jobs.insert(inserting('first'))
    db.prepare(`update sqlite_sequence set seq = ? where name = 'holdfast_job'`).run(before)
    // A row id that is answered as a number would be rounded: each insert finds its job by it.
    const rows = Array.from({ length: 4 }, (_, n) => before + BigInt(n + 1))
    for (const seq of rows) {
      const copy = (table: string, rest: string) =>
        db.exec(`create temp table copied as select * from ${table} where seq = 1; update copied set seq = ${seq}${rest};
          insert into ${table} select * from copied; drop table copied`)
      copy('holdfast_job', '')
      copy('holdfast_body', `, id = 'far-${seq - before}'`)
      db.exec(`insert into holdfast_lookup values ('run:X', ${seq})`)
    }
    for (const filter of [{}, { keys: ['run:X'] }, { states: ['queued' as const] }]) {
      const ids: string[] = []
      let cursor: string | null = null
      do {
        const reply = await store.queries.list({ ...page, ...filter, limit: 1, cursor })
        ids.push(...reply.jobs.map(({ spec }) => spec.id))
        cursor = reply.next
      } while (cursor !== null && ids.length < 9)
      expect(ids.slice(0, 4)).toEqual(['far-4', 'far-3', 'far-2', 'far-1'])
      expect(ids.length).toBe('keys' in filter ? 4 : 5)
    }
  })
})
