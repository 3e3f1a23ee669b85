import assert from 'node:assert/strict'
import type { JobRecord, JobState } from '../../engine/jobs/record.ts'
import type { ListParams, QueueCounts } from '../../engine/ports/queries.ts'
import type { Case } from './case.ts'
import { type Fixture, assertEnds, cancelled, failure, succeeded } from './fixture.ts'

/** Lists and counts (12.1 - 12.4). Filters that a store shared with others would answer for too are made this case's own. */

type Filters = Omit<Partial<ListParams>, 'cursor'>

/** Every page, as it came. */
async function pagesOf(
  { store, queue }: Fixture,
  filters: Filters = {},
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<JobRecord[][]> {
  const pages: JobRecord[][] = []
  let cursor: string | null = null
  do {
    assertEnds(pages.length)
    const limit = filters.limit ?? 10_000
    const page = await store.queries.list({ queues: [queue], payloads: true, ...filters, limit, cursor })
    pages.push([...page.jobs])
    assert.ok(
      page.jobs.length <= limit && (page.next === null || page.jobs.length === limit),
      'a page is full',
    )
    cursor = page.next
    await between(pages.length)
  } while (cursor !== null)
  return pages
}

async function idsOf(fixture: Fixture, filters?: Filters): Promise<string[]> {
  return (await pagesOf(fixture, filters)).flat().map(({ spec }) => spec.id)
}

const jobStates: readonly JobState[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled']

/** One job in each state, in the order of `jobStates`, the first of them the oldest. */
async function inEachState(fixture: Fixture): Promise<readonly string[]> {
  const { enqueue, claim, settle } = fixture
  const ids = await enqueue({ delayMs: 1_000_000 }, {}, {}, {}, {})
  const { jobs } = await claim()
  for (const { spec, epoch } of jobs) {
    const state = jobStates[ids.indexOf(spec.id)]
    if (state === 'succeeded') await settle(spec.id, epoch, succeeded)
    if (state === 'failed') await settle(spec.id, epoch, failure({ permanent: true }))
    if (state === 'cancelled') await settle(spec.id, epoch, cancelled)
  }
  return ids
}

const newestFirst = (ids: readonly string[]): string[] => [...ids].reverse()

async function countsOf({ store, queue }: Fixture, of = queue): Promise<QueueCounts | undefined> {
  return (await store.queries.counts()).find((counts) => counts.queue === of)
}

const nothing = { due: 0, delayed: 0, undispatched: 0, running: 0, dead: 0 }

/** As the engine states what a job is found by: the values in upper case, and the tenant among them, as it is. */
function stated(
  keys: Readonly<Record<string, string>>,
  tenant: string | null = null,
): { readonly keys: readonly string[]; readonly tenant: string | null } {
  const pairs = Object.entries(keys).map(([dimension, value]) => `${dimension}:${value.toUpperCase()}`)
  return { keys: tenant === null ? pairs : [...pairs, `tenant=${tenant}`], tenant }
}

export const queryCases: readonly Case[] = [
  {
    name: 'whole jobs, the newest first, as get answers them (12.2)',
    run: async (fixture) => {
      const ids = await inEachState(fixture)
      const [page] = await pagesOf(fixture)
      assert.deepEqual(page, await Promise.all(newestFirst(ids).map((id) => fixture.get(id))))
    },
  },
  {
    name: 'by state, each alone, some together, and none of none (12.1)',
    run: async (fixture) => {
      const ids = await inEachState(fixture)
      for (const [n, state] of jobStates.entries()) {
        assert.deepEqual(await idsOf(fixture, { states: [state] }), [ids[n]])
      }
      const [queued, running, , , ended] = ids
      assert.deepEqual(await idsOf(fixture, { states: ['queued', 'running'] }), [running, queued])
      assert.deepEqual(await idsOf(fixture, { states: ['cancelled', 'running'] }), [ended, running])
      assert.deepEqual(await idsOf(fixture, { states: [] }), [])
    },
  },
  {
    name: 'by kind and by queue, one or several (12.1)',
    run: async (fixture) => {
      const { enqueue, kind, queue, name } = fixture
      const [otherKind, otherQueue] = [name('kind'), name('queue')]
      const [a, b, c, d] = await enqueue(
        {},
        { kind: otherKind },
        { queue: otherQueue },
        { kind: otherKind, queue: otherQueue },
      )
      assert.deepEqual(await idsOf(fixture), [b, a])
      assert.deepEqual(await idsOf(fixture, { kinds: [otherKind] }), [b])
      assert.deepEqual(await idsOf(fixture, { kinds: [kind, otherKind] }), [b, a])
      assert.deepEqual(await idsOf(fixture, { queues: [otherQueue, queue], kinds: [otherKind] }), [d, b])
      assert.deepEqual(await idsOf(fixture, { queues: [otherQueue] }), [d, c])
      assert.deepEqual(await idsOf(fixture, { kinds: [] }), [])
      assert.deepEqual(await idsOf(fixture, { queues: [] }), [])
    },
  },
  {
    name: 'by keys, of which all must match, to the letter (1.8, 12.1)',
    run: async (fixture) => {
      const { enqueue, name } = fixture
      const run = name('run')
      const [one, both, other] = await enqueue(
        stated({ run }),
        stated({ order: 'é17', run }),
        stated({ order: 'é17', run: name('run') }),
      )
      const by = (keys: Readonly<Record<string, string>>): Filters => ({ keys: stated(keys).keys })
      assert.deepEqual(await idsOf(fixture, by({ run })), [both, one])
      assert.deepEqual(await idsOf(fixture, by({ order: 'é17' })), [other, both])
      assert.deepEqual(await idsOf(fixture, by({ order: 'é17', run })), [both])
      assert.deepEqual(await idsOf(fixture, by({ run, order: 'é17' })), [both])
      assert.deepEqual(await idsOf(fixture, by({ order: 'é1' })), [])
      assert.deepEqual(await idsOf(fixture, by({ ordeR: 'é17' })), [])
      assert.deepEqual(await idsOf(fixture, by({ run, order: 'é17', else: 'x' })), [])
      assert.deepEqual(await idsOf(fixture, { keys: [] }), [other, both, one])
    },
  },
  {
    name: 'by tenant: of one, as it is written, or of nobody (12.1)',
    run: async (fixture) => {
      const { enqueue, name } = fixture
      const tenant = name('Tenant')
      const [, theirs, keyed, labelled, others] = await enqueue(
        {},
        stated({}, tenant),
        stated({ run: 'r' }, tenant),
        stated({ run: 'r' }),
        stated({}, tenant.toLowerCase()),
      )
      assert.deepEqual(await idsOf(fixture, { tenant }), [keyed, theirs])
      assert.deepEqual(await idsOf(fixture, { tenant: tenant.toLowerCase() }), [others])
      assert.deepEqual(await idsOf(fixture, { tenant, keys: ['run:R'] }), [keyed])
      assert.deepEqual(await idsOf(fixture, { tenant: null, keys: ['run:R'] }), [labelled])
      assert.equal((await idsOf(fixture, { tenant: null })).length, 2)
    },
  },
  {
    name: 'by the time of creation, from inclusive, to exclusive (12.1)',
    needs: 'clock',
    run: async (fixture) => {
      const { enqueueOne, advance, get } = fixture
      const ids: string[] = []
      for (let n = 0; n < 4; n++) {
        ids.push(await enqueueOne(n % 2 === 0 ? {} : stated({ run: 'r' })))
        await advance(1_000)
      }
      const [first, second, third] = (await Promise.all(ids.map(get))).map(({ createdAtMs }) => createdAtMs)
      const within = { createdFromMs: second as number, createdToMs: third as number }
      assert.deepEqual(await idsOf(fixture, within), [ids[1]])
      assert.deepEqual(await idsOf(fixture, { ...within, keys: ['run:R'] }), [ids[1]])
      assert.deepEqual(await idsOf(fixture, { createdFromMs: third as number }), [ids[3], ids[2]])
      assert.deepEqual(await idsOf(fixture, { createdToMs: second as number }), [ids[0]])
      assert.deepEqual(await idsOf(fixture, { createdToMs: first as number }), [])
    },
  },
  {
    name: 'by whether it is a dead letter (0.16, 16.1)',
    run: async (fixture) => {
      const ids = await inEachState(fixture)
      const dead = ids[3] as string
      assert.deepEqual(await idsOf(fixture, { dead: true }), [dead])
      assert.deepEqual(await idsOf(fixture, { dead: false }), newestFirst(ids.filter((id) => id !== dead)))
      const { version } = await fixture.get(dead)
      await fixture.store.jobs.retry({ id: dead, version, command: fixture.name('command') })
      assert.deepEqual(await idsOf(fixture, { dead: true }), [])
    },
  },
  {
    name: 'all filters together, each of which leaves out one more (12.1)',
    run: async (fixture) => {
      const { enqueue, claim, settle, store, kind, queue, name } = fixture
      const tenant = name('tenant')
      const hit = stated({ run: 'x', order: 'y' }, tenant)
      const ids = await enqueue(
        { ...hit, kind: name('kind') },
        { ...hit, queue: name('queue') },
        { ...hit, ...stated({ run: 'x' }, tenant) },
        { ...hit, ...stated({ order: 'y' }, tenant) },
        { ...hit, ...stated({ run: 'x', order: 'y' }) },
        hit,
        { ...hit, delayMs: 1_000_000 },
      )
      const { jobs } = await claim()
      for (const { spec, epoch } of jobs) await settle(spec.id, epoch, failure({ permanent: true }))
      const filters: Filters = {
        states: ['failed'],
        kinds: [kind],
        queues: [queue],
        tenant,
        keys: ['run:X', 'order:Y'],
        dead: true,
        createdFromMs: 0,
        createdToMs: (await store.now()) + 1_000,
      }
      assert.deepEqual(await idsOf(fixture, filters), [ids[5]])
      assert.deepEqual(await idsOf(fixture, { ...filters, createdToMs: 1 }), [])
      assert.deepEqual(await idsOf(fixture, { ...filters, dead: false }), [])
    },
  },
  {
    name: 'pages partition what is listed, with every filter that has an order of its own (12.4)',
    run: async (fixture) => {
      const { enqueue } = fixture
      const ids = await enqueue(
        ...Array.from({ length: 23 }, (_, n) => stated({ run: 'r', odd: String(n % 2) }, 't')),
      )
      for (const filters of [{}, { keys: ['run:R'] }, { tenant: 't' }, { tenant: 't', keys: ['run:R'] }]) {
        for (const limit of [1, 7, 22, 23, 24]) {
          const pages = await pagesOf(fixture, { ...filters, limit })
          assert.equal(pages.length, Math.ceil(23 / limit), 'no page more than there is')
          assert.deepEqual(
            pages.flat().map(({ spec }) => spec.id),
            newestFirst(ids),
          )
        }
      }
      const odd = newestFirst(ids.filter((_, n) => n % 2 === 1))
      assert.deepEqual(await idsOf(fixture, { limit: 2, keys: ['run:R', 'odd:1'] }), odd)
    },
  },
  {
    name: 'each job that was there all the time is listed once, whatever comes, ends or goes meanwhile (12.4)',
    run: async (fixture) => {
      const { enqueue, claim, settle, store } = fixture
      const ids = await enqueue(...Array.from({ length: 40 }, () => ({})))
      const { jobs } = await claim()
      const left = [...jobs]
      const pages = await pagesOf(fixture, { limit: 6 }, async () => {
        await enqueue({}, {})
        // One that was listed, and one that was not.
        for (const job of [left.pop(), left.shift()]) {
          if (job) await settle(job.spec.id, job.epoch, left.length % 2 ? succeeded : failure({ delayMs: 0 }))
        }
        await claim({ limit: 3 })
        await store.jobs.requestCancel({ id: ids[left.length] ?? '' })
      })
      const listed = pages.flat().map(({ spec }) => spec.id)
      assert.deepEqual(
        listed.filter((id) => ids.includes(id)),
        newestFirst(ids),
      )
      assert.equal(new Set(listed).size, listed.length)
    },
  },
  {
    name: '10,000 jobs of one instant in pages, while others are inserted: each exactly once (12.2, 12.4)',
    run: async (fixture) => {
      const { store, newJob, enqueue, name } = fixture
      const jobs = Array.from({ length: 10_000 }, () => newJob())
      await store.jobs.insert({ insertId: name('insert'), jobs })
      const pages = await pagesOf(fixture, { limit: 999, payloads: false }, () => enqueue({}))
      assert.deepEqual(
        pages.flat().map(({ spec }) => spec.id),
        newestFirst(jobs.map(({ spec }) => spec.id)),
      )
      const params = { queues: [fixture.queue], limit: 50_000, cursor: null, payloads: false }
      const whole = await store.queries.list(params)
      assert.deepEqual([whole.jobs.length, whole.next === null], [10_000, false])
    },
  },
  {
    name: 'without payloads a job has neither input nor result, and all else',
    run: async (fixture) => {
      const { id, epoch } = await fixture.start({ input: '{"large":true}', ...stated({ run: 'r' }) })
      await fixture.settle(id, epoch, succeeded)
      const whole = await fixture.get(id)
      const bare = { ...whole, spec: { ...whole.spec, input: '' }, result: null }
      for (const filters of [{}, { keys: ['run:R'] }]) {
        assert.deepEqual(await pagesOf(fixture, { ...filters, payloads: false }), [[bare]])
        assert.deepEqual(await pagesOf(fixture, { ...filters, payloads: true }), [[whole]])
      }
    },
  },
  {
    name: 'a limit is brought into 1 to 10,000 (12.2)',
    run: async (fixture) => {
      await fixture.enqueue({}, {}, {})
      const list = (limit: number) =>
        fixture.store.queries.list({ queues: [fixture.queue], limit, cursor: null, payloads: true })
      for (const limit of [0, -5, Number.NaN, 1, 1.9]) assert.equal((await list(limit)).jobs.length, 1)
      for (const limit of [10_001, 1e300, Number.POSITIVE_INFINITY]) {
        const { jobs, next } = await list(limit)
        assert.deepEqual([jobs.length, next], [3, null])
      }
    },
  },
  {
    name: 'a cursor that no page has answered is refused (12.2)',
    run: async ({ store, queue, enqueue }) => {
      await enqueue({}, {})
      const list = (cursor: string) =>
        store.queries.list({ queues: [queue], limit: 1, cursor, payloads: true })
      const text = (said: string): string => Buffer.from(said).toString('base64url')
      const far = 2n ** 63n
      const malformed = [
        'seq:',
        'seq:0',
        'seq:-1',
        'seq:01',
        'seq:1.5',
        'seq:1 ',
        'seq:1e3',
        'seq:x',
        'sec:1',
        '1',
      ]
      for (const cursor of [
        '',
        '1',
        'x',
        'seq:1',
        ' ',
        '%',
        'é',
        ...malformed.map(text),
        text(`seq:${far}`),
        text(`seq:${far}0`),
        `${text('seq:1')}=`,
        ` ${text('seq:1')}`,
      ]) {
        await assert.rejects(list(cursor), { code: 'INVALID_ARGUMENT' }, JSON.stringify(cursor))
      }
      const page = await store.queries.list({ queues: [queue], limit: 1, cursor: null, payloads: true })
      assert.equal((await list(page.next ?? '')).jobs.length, 1)
    },
  },
  {
    name: 'a cursor is text that goes through hands: it works after a restart, with another limit, and other filters',
    run: async (fixture) => {
      const { store, queue, enqueue } = fixture
      const ids = await enqueue({}, {}, { delayMs: 1_000_000 }, {})
      const { next } = await store.queries.list({ queues: [queue], limit: 1, cursor: null, payloads: true })
      const rest = async (filters: Filters) => {
        const params = { queues: [queue], limit: 9, cursor: next, payloads: true, ...filters }
        return (await store.queries.list(params)).jobs.map(({ spec }) => spec.id)
      }
      assert.deepEqual(await rest({}), [ids[2], ids[1], ids[0]])
      await fixture.claim()
      assert.deepEqual(await rest({ states: ['queued'] }), [ids[2]])
    },
  },
  {
    name: 'counts: each queue by what its jobs wait for, those that are over not among them',
    run: async (fixture) => {
      const { store, enqueue, queue, claim, settle, name } = fixture
      assert.equal(await countsOf(fixture), undefined)
      const ids = await inEachState(fixture)
      await enqueue({}, {}, { delayMs: 1_000_000 }, { undispatched: true })
      assert.deepEqual(await countsOf(fixture), {
        queue,
        due: 2,
        delayed: 2,
        undispatched: 1,
        running: 1,
        dead: 1,
      })
      const dead = await fixture.get(ids[3] as string)
      await store.jobs.retry({ id: dead.spec.id, version: dead.version, command: name('command') })
      assert.deepEqual(await countsOf(fixture), {
        queue,
        due: 3,
        delayed: 2,
        undispatched: 1,
        running: 1,
        dead: 0,
      })
      const { jobs } = await claim({ limit: 2 })
      assert.deepEqual(await countsOf(fixture), {
        queue,
        due: 1,
        delayed: 2,
        undispatched: 1,
        running: 3,
        dead: 0,
      })
      for (const { spec, epoch } of jobs) await settle(spec.id, epoch, failure({ delayMs: 1_000_000 }))
      assert.deepEqual(await countsOf(fixture), {
        queue,
        due: 1,
        delayed: 4,
        undispatched: 1,
        running: 1,
        dead: 0,
      })
    },
  },
  {
    name: 'counts: due from the very instant on, and those on their last eviction with the others',
    needs: 'clock',
    run: async (fixture) => {
      const { start, enqueueOne, seen, reclaim, advance, queue } = fixture
      await start({ maxEvictions: 2, backoffMs: [0] })
      await seen(30_000)
      await reclaim()
      await enqueueOne({ delayMs: 1_000 })
      assert.deepEqual(await countsOf(fixture), { queue, ...nothing, due: 1, delayed: 1 })
      await advance(999)
      assert.deepEqual(await countsOf(fixture), { queue, ...nothing, due: 1, delayed: 1 })
      await advance(1)
      assert.deepEqual(await countsOf(fixture), { queue, ...nothing, due: 2 })
    },
  },
  {
    name: 'counts: queues in UTF-8 order, one that has nothing left is left out',
    run: async ({ store, enqueue, name }) => {
      const base = name('queue')
      const ends = ['é', 'B', '😀', 'a', '\uFFFD', '']
      const inOrder = ['', 'B', 'a', 'é', '\uFFFD', '😀'].map((end) => base + end)
      const ids = await enqueue(...ends.map((end) => ({ queue: base + end })))
      const own = async () =>
        (await store.queries.counts()).filter(({ queue }) => queue.startsWith(base)).map(({ queue }) => queue)
      assert.deepEqual(await own(), inOrder)
      await store.jobs.requestCancel({ id: ids[0] as string })
      assert.deepEqual(
        await own(),
        inOrder.filter((queue) => queue !== `${base}é`),
      )
    },
  },
]
