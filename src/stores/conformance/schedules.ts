import assert from 'node:assert/strict'
import type { FireReply, FireSchedule, ScheduleRow } from '../../engine/ports/schedules.ts'
import type { Case } from './case.ts'
import type { Fixture } from './fixture.ts'
import { names } from './hostile.ts'

const hourMs = 3_600_000

/** One schedule in the hands of a case. */
interface Hand {
  readonly key: string
  row(): Promise<ScheduleRow>
  put(change?: { spec?: string; nextAtMs?: number | null; version?: string | null }): Promise<string>
  /** Fires the slots at `atMs`, with a job each, named after the slot. */
  fire(change: Partial<FireSchedule> & { readonly atMs?: readonly number[] }): Promise<FireReply>
}

function handOf(fixture: Fixture, key = fixture.name('schedule')): Hand {
  const { store, name, newJob } = fixture
  const hand: Hand = {
    key,
    row: async () => {
      const row = await store.schedules.get({ key })
      assert.ok(row, `there is no schedule ${key}`)
      return row
    },
    put: async ({ spec = '{}', nextAtMs = 0, version = null } = {}) => {
      const reply = await store.schedules.put({ key, version, command: name('command'), spec, nextAtMs })
      return reply.kind
    },
    fire: async ({ atMs = [], ...change }) => {
      const version = (await store.schedules.get({ key }))?.version ?? name('version')
      const slots = atMs.map((slotMs) => ({ atMs: slotMs, job: newJob({ id: `${key}@${slotMs}` }) }))
      const stock = { key, version, command: name('command'), slots, nextAtMs: null }
      return store.schedules.fire({ ...stock, ...change })
    },
  }
  return hand
}

/** Of a store that others use too, only these. */
async function dueOf({ store }: Fixture, hands: readonly Hand[]): Promise<string[]> {
  const { schedules } = await store.schedules.due({ limit: 10_000 })
  return schedules.map(({ key }) => key).filter((key) => hands.some((hand) => hand.key === key))
}

export const scheduleCases: readonly Case[] = [
  {
    name: 'a schedule that is put is there, as it was put (17.1)',
    run: async (fixture) => {
      const { store, name, now } = fixture
      const { key } = handOf(fixture)
      const fromMs = await now()
      const command = name('command')
      const spec = '{"a":"é😀","n":1e3}'
      const nextAtMs = fromMs + hourMs
      assert.equal(await store.schedules.get({ key }), null)
      assert.deepEqual(await store.schedules.put({ key, version: null, command, spec, nextAtMs }), {
        kind: 'put',
      })
      const { madeAtMs, ...row } = (await store.schedules.get({ key })) as ScheduleRow
      assert.deepEqual(row, { key, version: command, spec, paused: false, nextAtMs, lastAtMs: null })
      assert.ok(madeAtMs >= fromMs && madeAtMs <= (await now()))
    },
  },
  {
    name: 'put again with the same content, it changes nothing: what is due stays due (17.1, E21)',
    run: async (fixture) => {
      const hand = handOf(fixture)
      await hand.put({ nextAtMs: 1_000 })
      const { version } = await hand.row()
      for (const at of [null, version, 'another']) {
        const same = (): Promise<string> => hand.put({ nextAtMs: 9_000, version: at })
        assert.equal(await fixture.unchanged([], same), 'same')
      }
      assert.equal((await hand.row()).nextAtMs, 1_000)
    },
  },
  {
    name: 'it is changed at the version that was read, and neither made twice nor changed blindly (0.14)',
    run: async (fixture) => {
      const { store } = fixture
      const hand = handOf(fixture)
      assert.equal(await hand.put({ version: 'of nothing' }), 'refused')
      assert.equal(await store.schedules.get({ key: hand.key }), null)
      await hand.put({ spec: '1', nextAtMs: 1_000 })
      const first = await hand.row()
      for (const version of [null, 'another']) {
        assert.equal(await fixture.unchanged([], () => hand.put({ spec: '2', version })), 'refused')
      }
      await hand.fire({ atMs: [1_000], nextAtMs: 2_000 })
      assert.equal(await hand.put({ spec: '2', version: first.version }), 'refused')
      const fired = await hand.row()
      assert.equal(await hand.put({ spec: '2', nextAtMs: null, version: fired.version }), 'put')
      const { version, ...changed } = await hand.row()
      assert.notEqual(version, fired.version)
      const { version: _version, ...before } = fired
      assert.deepEqual(changed, { ...before, spec: '2', nextAtMs: null, lastAtMs: 1_000 })
    },
  },
  {
    name: 'a command sent again knows its own work, and undoes nobody else’s (8, 0.15)',
    run: async (fixture) => {
      const { store, name } = fixture
      const hand = handOf(fixture)
      const { key } = hand
      const [a, b, c] = [name('a'), name('b'), name('c')] as [string, string, string]
      const put = { key, version: null, command: a, spec: '1', nextAtMs: 1_000 }
      const pause = { key, version: a, command: b, paused: true }
      await store.schedules.put(put)
      assert.deepEqual(await fixture.unchanged([], () => store.schedules.put(put)), { kind: 'put' })
      await store.schedules.pause(pause)
      assert.deepEqual(await fixture.unchanged([], () => store.schedules.pause(pause)), { applied: true })
      await store.schedules.pause({ key, version: b, command: c, paused: false })
      assert.deepEqual(await fixture.unchanged([], () => store.schedules.pause(pause)), { applied: false })
      assert.equal((await hand.row()).paused, false)
    },
  },
  {
    name: 'a removed schedule is gone; made anew it has another version, so that nothing late meets it (0.13)',
    run: async (fixture) => {
      const { store } = fixture
      const hand = handOf(fixture)
      assert.deepEqual(await store.schedules.remove({ key: hand.key }), { removed: false })
      await hand.put()
      const { version } = await hand.row()
      assert.deepEqual(await store.schedules.remove({ key: hand.key }), { removed: true })
      assert.equal(await store.schedules.get({ key: hand.key }), null)
      assert.deepEqual(await hand.fire({ version, atMs: [1] }), { kind: 'lost' })
      await hand.put()
      const late = await fixture.unchanged([], () => hand.fire({ version, atMs: [1] }))
      assert.deepEqual(late, { kind: 'lost' })
    },
  },
  {
    name: 'the list goes by the bytes of the keys, page by page (1.7, 12)',
    run: async (fixture) => {
      const { store, name } = fixture
      const base = name('schedule')
      const ends = ['', 'B', 'a', 'é', '\uFFFD', '😀']
      for (const end of [...ends].reverse()) await handOf(fixture, base + end).put()
      const keys = ends.map((end) => base + end)
      const page = async (limit: number, after: string | null): Promise<string[]> =>
        (await store.schedules.list({ limit, after })).schedules.map(({ key }) => key)
      assert.deepEqual(await page(0, null), [])
      const all = await page(10_000, null)
      assert.deepEqual(
        all.filter((key) => key.startsWith(base)),
        keys,
      )
      const from = all[all.indexOf(base) - 1] ?? null
      assert.deepEqual(await page(2, from), keys.slice(0, 2))
      assert.deepEqual(await page(2, keys[1] as string), keys.slice(2, 4))
    },
  },
  {
    name: 'keys that look alike are different schedules (1.7)',
    run: async (fixture) => {
      const base = fixture.name('schedule')
      const hands = names.map((end) => handOf(fixture, base + end))
      for (const [n, hand] of hands.entries()) assert.equal(await hand.put({ spec: `${n}` }), 'put')
      for (const [n, hand] of hands.entries()) assert.equal((await hand.row()).spec, `${n}`)
    },
  },
  {
    name: 'due is what has come by the database’s time, the longest due first, then by key (17, E11)',
    needs: 'clock',
    run: async (fixture) => {
      const base = fixture.name('schedule')
      const [c, b, a] = ['c', 'b', 'a'].map((end) => handOf(fixture, base + end)) as [Hand, Hand, Hand]
      const nowMs = await fixture.now()
      await c.put({ nextAtMs: nowMs - 5 })
      await b.put({ nextAtMs: nowMs + 1_000 })
      await a.put({ nextAtMs: nowMs + 1_000 })
      await fixture.advance(999)
      assert.deepEqual(await dueOf(fixture, [a, b, c]), [c.key])
      await fixture.advance(1)
      assert.deepEqual(await dueOf(fixture, [a, b, c]), [c.key, a.key, b.key])
      await fixture.advance(-1)
      assert.deepEqual(await dueOf(fixture, [a, b, c]), [c.key])
    },
  },
  {
    name: 'due tells how long it is until the next one; nothing that is due, paused or over counts (17)',
    needs: ['clock', 'content'],
    run: async (fixture) => {
      const { store, name } = fixture
      const look = async (limit = 9): Promise<unknown> => {
        const { schedules, ...rest } = await store.schedules.due({ limit })
        return { ...rest, due: schedules.length }
      }
      const nowMs = await fixture.now()
      assert.deepEqual(await look(), { nowMs, due: 0, nextInMs: null })
      const [due, over, paused, later, next] = ['a', 'b', 'c', 'd', 'e'].map((end) =>
        handOf(fixture, name(end)),
      ) as [Hand, Hand, Hand, Hand, Hand]
      await due.put({ nextAtMs: nowMs })
      await over.put({ nextAtMs: null })
      await paused.put({ nextAtMs: nowMs + 1 })
      const { key, version } = await paused.row()
      await store.schedules.pause({ key, version, command: name('command'), paused: true })
      assert.deepEqual(await look(), { nowMs, due: 1, nextInMs: null })
      await later.put({ nextAtMs: nowMs + hourMs })
      await next.put({ nextAtMs: nowMs + 7 })
      assert.deepEqual(await look(), { nowMs, due: 1, nextInMs: 7 })
      assert.deepEqual(await look(0), { nowMs, due: 0, nextInMs: 7 })
    },
  },
  {
    name: 'a firing makes the jobs of its slots and sets what is next, at once (0.16, 17.1)',
    run: async (fixture) => {
      const { key, ...hand } = handOf(fixture)
      const nowMs = await fixture.now()
      await hand.put({ nextAtMs: nowMs - 2_000 })
      const atMs = [nowMs - 2_000, nowMs - 1_000]
      const command = fixture.name('command')
      const ids = atMs.map((slotMs) => `${key}@${slotMs}`)
      const reply = await hand.fire({ atMs, nextAtMs: nowMs + hourMs, command })
      assert.deepEqual(reply, { kind: 'fired', created: ids })
      const { version, nextAtMs, lastAtMs } = await hand.row()
      assert.deepEqual([version, nextAtMs, lastAtMs], [command, nowMs + hourMs, nowMs - 1_000])
      assert.deepEqual((await fixture.claim()).ids, ids)
    },
  },
  {
    name: 'a firing of no slot only sets what is next',
    run: async (fixture) => {
      const hand = handOf(fixture)
      await hand.put({ nextAtMs: 1_000 })
      await hand.fire({ atMs: [1_000], nextAtMs: 2_000 })
      assert.deepEqual(await hand.fire({ nextAtMs: null }), { kind: 'fired', created: [] })
      const { nextAtMs, lastAtMs } = await hand.row()
      assert.deepEqual([nextAtMs, lastAtMs], [null, 1_000])
    },
  },
  {
    name: 'of eight that fire at once, one does (17.1)',
    run: async (fixture) => {
      const hand = handOf(fixture)
      await hand.put({ nextAtMs: 1_000 })
      const { version } = await hand.row()
      const tries = Array.from({ length: 8 }, (_, n) => hand.fire({ version, atMs: [1_000 + n] }))
      const kinds = (await Promise.all(tries)).map(({ kind }) => kind)
      assert.deepEqual(kinds.toSorted(), ['fired', ...Array.from({ length: 7 }, () => 'lost')])
      assert.equal((await fixture.claim()).ids.length, 1)
    },
  },
  {
    name: 'a firing sent again stands, and one at an old version is lost: neither does anything (8, 0.15)',
    run: async (fixture) => {
      const hand = handOf(fixture)
      await hand.put({ nextAtMs: 1_000 })
      const { version } = await hand.row()
      const first = { version, command: fixture.name('command'), atMs: [1_000], nextAtMs: 2_000 }
      assert.equal((await hand.fire(first)).kind, 'fired')
      assert.deepEqual(await fixture.unchanged([], () => hand.fire(first)), { kind: 'stands' })
      assert.equal((await hand.fire({ atMs: [2_000], nextAtMs: 3_000 })).kind, 'fired')
      assert.deepEqual(await fixture.unchanged([], () => hand.fire(first)), { kind: 'lost' })
    },
  },
  {
    name: 'a paused schedule is neither due nor fired; let go on, it is (17)',
    run: async (fixture) => {
      const { store, name } = fixture
      const hand = handOf(fixture)
      const { key } = hand
      await hand.put({ nextAtMs: 1_000 })
      const { version } = await hand.row()
      const [b, c] = [name('b'), name('c')] as [string, string]
      assert.deepEqual(await store.schedules.pause({ key, version, command: b, paused: true }), {
        applied: true,
      })
      assert.deepEqual(await dueOf(fixture, [hand]), [])
      assert.deepEqual(await fixture.unchanged([], () => hand.fire({ atMs: [1_000] })), { kind: 'lost' })
      const go = { key, version: b, command: c, paused: false, nextAtMs: 2_000 }
      assert.deepEqual(await store.schedules.pause(go), { applied: true })
      assert.deepEqual(await dueOf(fixture, [hand]), [key])
      const { paused, nextAtMs } = await hand.row()
      assert.deepEqual([paused, nextAtMs], [false, 2_000])
    },
  },
  {
    name: 'a pause keeps what is next, unless it says what is; at another version it does nothing',
    run: async (fixture) => {
      const { store, name } = fixture
      const hand = handOf(fixture)
      const { key } = hand
      await hand.put({ nextAtMs: 1_000 })
      const pause = async (version: string, nextAtMs?: null): Promise<boolean> => {
        const rest = nextAtMs === undefined ? {} : { nextAtMs }
        const command = name('command')
        return (await store.schedules.pause({ key, version, command, paused: true, ...rest })).applied
      }
      assert.equal(await fixture.unchanged([], () => pause('another')), false)
      assert.equal(await pause((await hand.row()).version), true)
      assert.equal((await hand.row()).nextAtMs, 1_000)
      assert.equal(await pause((await hand.row()).version, null), true)
      assert.equal((await hand.row()).nextAtMs, null)
      const none = { key: name('none'), version: 'v', command: 'w', paused: true }
      assert.deepEqual(await store.schedules.pause(none), { applied: false })
    },
  },
  {
    name: 'no slot is fired before its time by the database’s clock, and none beside it (17, E11)',
    needs: 'clock',
    run: async (fixture) => {
      const hand = handOf(fixture)
      const nowMs = await fixture.now()
      await hand.put({ nextAtMs: nowMs })
      const atMs = [nowMs, nowMs + 1_000]
      assert.deepEqual(await fixture.unchanged([], () => hand.fire({ atMs })), { kind: 'early' })
      await fixture.advance(999)
      assert.deepEqual(await fixture.unchanged([], () => hand.fire({ atMs })), { kind: 'early' })
      await fixture.advance(1)
      assert.equal((await hand.fire({ atMs })).kind, 'fired')
    },
  },
  {
    name: 'a job whose id is taken is there already, and the schedule goes on (17.1)',
    run: async (fixture) => {
      const { key, ...hand } = handOf(fixture)
      await hand.put({ nextAtMs: 1_000 })
      const ids = [1_000, 2_000, 3_000].map((slotMs) => `${key}@${slotMs}`) as [string, string, string]
      await fixture.enqueue(
        { id: ids[0], input: '{"other":true}' },
        { id: ids[2], kind: fixture.name('kind') },
      )
      const reply = await hand.fire({ atMs: [1_000, 2_000, 3_000], nextAtMs: 4_000 })
      assert.deepEqual(reply, { kind: 'fired', created: [ids[1]] })
      assert.equal((await fixture.get(ids[0])).spec.input, '{"other":true}')
      assert.equal((await hand.row()).nextAtMs, 4_000)
      assert.equal((await hand.fire({ atMs: [1_000], nextAtMs: 5_000 })).kind, 'fired')
      assert.equal((await hand.row()).nextAtMs, 5_000)
    },
  },
  {
    name: 'all of the job that a slot states is stored, as an enqueue would (17.1)',
    run: async (fixture) => {
      const { store, name, newJob } = fixture
      const { key, ...hand } = handOf(fixture)
      await hand.put({ nextAtMs: 1_000 })
      const tenant = 'T'
      const stated = { band: 1, input: '{"é":[1,null]}', tenant, keys: ['schedule:X', 'tenant=T'] }
      const job = newJob({ ...stated, id: name('job'), metadata: { a: 'b' }, keepMs: 5 })
      const { version } = await hand.row()
      const slots = [{ atMs: 1_000, job }]
      await store.schedules.fire({ key, version, command: name('command'), slots, nextAtMs: null })
      assert.deepEqual((await fixture.get(job.spec.id)).spec, job.spec)
    },
  },
]
