import assert from 'node:assert/strict'
import type { JobRecord } from '../../engine/jobs/record.ts'
import type { CommandReply } from '../../engine/ports/store.ts'
import type { Case } from './case.ts'
import {
  type Fixture,
  assertChanged,
  assertWithin,
  cancelled,
  failure,
  released,
  shortMs,
  succeeded,
} from './fixture.ts'

/** The two commands on a job of a version, each with a new name unless one is given. */
function commandsOf({ store, name }: Fixture): Record<'retry' | 'reschedule', Command> {
  return {
    retry: (id, version, command = name('command')) => store.jobs.retry({ id, version, command }),
    reschedule: (id, version, command = name('command')) =>
      store.jobs.reschedule({ id, version, command, delayMs: 60_000 }),
  }
}
type Command = (id: string, version: number, command?: string) => Promise<CommandReply>

/** One job in each state. */
async function oneOfEach(fixture: Fixture): Promise<Record<JobRecord['state'], string>> {
  const { enqueue, claim, settle } = fixture
  const [running, succeededId, failed, cancelledId] = (await enqueue({}, {}, {}, {})) as [
    string,
    string,
    string,
    string,
  ]
  await claim()
  await settle(succeededId, 1, succeeded)
  await settle(failed, 1, failure({ permanent: true }))
  await settle(cancelledId, 1, cancelled)
  const queued = await fixture.enqueueOne()
  return { queued, running, succeeded: succeededId, failed, cancelled: cancelledId }
}

const applies = { retry: ['failed', 'cancelled'], reschedule: ['queued'] } as const

const both: readonly Case[] = (['retry', 'reschedule'] as const).flatMap((what): Case[] => {
  const state = applies[what][0]
  return [
    {
      name: `${what} in another state than it is for is refused with the state and version, and changes nothing`,
      run: async (fixture) => {
        const jobs = await oneOfEach(fixture)
        for (const [is, id] of Object.entries(jobs)) {
          const { version } = await fixture.get(id)
          const send = (): Promise<CommandReply> => commandsOf(fixture)[what](id, version)
          if ((applies[what] as readonly string[]).includes(is)) {
            assert.deepEqual(await send(), { kind: 'applied', version: version + 1 })
          } else {
            assert.deepEqual(await fixture.unchanged([id], send), { kind: 'refused', version, state: is })
          }
        }
      },
    },
    {
      name: `${what} at another version, older or newer, is refused and changes nothing (0.14)`,
      run: async (fixture) => {
        const id = (await oneOfEach(fixture))[state]
        const { version } = await fixture.get(id)
        for (const other of [version - 1, version + 1, 0]) {
          const send = (): Promise<CommandReply> => commandsOf(fixture)[what](id, other)
          assert.deepEqual(await fixture.unchanged([id], send), { kind: 'refused', version, state })
        }
      },
    },
    {
      name: `${what} of a job that is not there is refused, and makes none`,
      run: async (fixture) => {
        const id = fixture.name('nobody')
        const send = (): Promise<CommandReply> => commandsOf(fixture)[what](id, 1)
        const refused = { kind: 'refused', version: null, state: null }
        assert.deepEqual(await fixture.unchanged([id], send), refused)
        assert.equal(await fixture.store.jobs.get({ id }), null)
      },
    },
    {
      name: `${what} sent again by the same name finds that it applied, also once the job has gone on (8.3)`,
      run: async (fixture) => {
        const id = (await oneOfEach(fixture))[state]
        const { version } = await fixture.get(id)
        const command = fixture.name('command')
        const send = (): Promise<CommandReply> => commandsOf(fixture)[what](id, version, command)
        const applied = await send()
        assert.deepEqual(applied, { kind: 'applied', version: version + 1 })
        assert.deepEqual(await fixture.unchanged([id], send), applied)
        await fixture.store.jobs.requestCancel({ id })
        const later = { kind: 'applied', version: version + 2 }
        assert.deepEqual(await fixture.unchanged([id], send), later)
      },
    },
    {
      name: `${what} by another name at the version that is gone is refused (0.14)`,
      run: async (fixture) => {
        const id = (await oneOfEach(fixture))[state]
        const { version } = await fixture.get(id)
        await commandsOf(fixture)[what](id, version)
        const again = (): Promise<CommandReply> => commandsOf(fixture)[what](id, version)
        const refused = { kind: 'refused', version: version + 1, state: 'queued' }
        assert.deepEqual(await fixture.unchanged([id], again), refused)
      },
    },
    {
      name: `of eight that ${what} at once, at one version, one applies (0.14)`,
      run: async (fixture) => {
        const id = (await oneOfEach(fixture))[state]
        const { version } = await fixture.get(id)
        const race = Array.from({ length: 8 }, () => commandsOf(fixture)[what](id, version))
        const replies = await Promise.all(race)
        assert.equal(replies.filter(({ kind }) => kind === 'applied').length, 1)
        assert.equal((await fixture.get(id)).version, version + 1)
      },
    },
  ]
})

const retryCases: readonly Case[] = [
  {
    name: 'a retry resets what the job was charged and how it ended, and neither its epoch nor its attempts (5.12)',
    run: async ({ store, start, seen, reclaim, claim, settle, get, name, now }) => {
      const { id } = await start({ leaseTtlMs: shortMs, maxAttempts: 2 })
      await seen(shortMs)
      await reclaim()
      for (const epoch of [3, 4]) {
        await claim()
        await store.jobs.progress({ id, epoch, percent: 50, phase: 'half' })
        await settle(id, epoch, failure())
      }
      const before = await get(id)
      const { state, failures, evictions, epoch, attempt } = before
      assert.deepEqual([state, failures, evictions, epoch, attempt], ['failed', 2, 1, 4, 3])
      const fromMs = await now()
      const command = name('command')
      await store.jobs.retry({ id, version: before.version, command })
      const after = await get(id)
      assertWithin(after.visibleAtMs, fromMs, await now())
      const due = { visibleAtMs: after.visibleAtMs, updatedAtMs: after.visibleAtMs, finishedAtMs: null }
      const reset = { failures: 0, evictions: 0, error: null, progress: null, lastCommand: command }
      assertChanged(after, before, { ...due, ...reset, state: 'queued' })
    },
  },
  {
    name: 'a cancelled job that is retried is not cancelled again (5.12)',
    run: async ({ store, start, claim, settle, get, name, worker }) => {
      const { id, epoch } = await start()
      await store.jobs.requestCancel({ id })
      await settle(id, epoch, released)
      const { version } = await get(id)
      await store.jobs.retry({ id, version, command: name('command') })
      assert.equal((await get(id)).cancelRequestedAtMs, null)
      const { token } = await claim()
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(held, [{ id, epoch: 2, cancel: false }])
      assert.deepEqual(await settle(id, 2, failure()), { settled: 'applied', state: 'queued' })
    },
  },
  {
    name: 'the retried job has its whole budget again, at epochs and attempts that go on (0.5, 0.13)',
    run: async ({ store, start, claim, settle, get, name }) => {
      const { id, epoch } = await start({ maxAttempts: 2 })
      await settle(id, epoch, failure({ permanent: true }))
      const { version } = await get(id)
      await store.jobs.retry({ id, version, command: name('command') })
      for (const [next, state] of [
        [2, 'queued'],
        [3, 'failed'],
      ] as const) {
        const { spec, visibleAtMs, seq } = await get(id)
        const { jobs } = await claim()
        const waitedMs = ((await get(id)).claimedAtMs ?? 0) - (visibleAtMs ?? 0)
        const counts = { epoch: next, attempt: next, failures: next - 2, evictions: 0 }
        assert.deepEqual(jobs, [{ spec, ...counts, waitedMs, seq }])
        assert.equal((await settle(id, next, failure())).state, state)
      }
    },
  },
  {
    name: 'a job that was dead-lettered for its evictions is claimed like any other after a retry (0.10)',
    run: async ({ store, start, claim, seen, reclaim, get, name }) => {
      const { id } = await start({ leaseTtlMs: shortMs, maxEvictions: 2 })
      for (const state of ['queued', 'failed']) {
        await seen(shortMs)
        assert.equal((await reclaim())[0]?.state, state)
        if (state === 'queued') await claim()
      }
      const { version } = await get(id)
      await store.jobs.retry({ id, version, command: name('command') })
      const { ids, soloWaiting } = await claim({ solo: 'await' })
      assert.deepEqual([ids, soloWaiting], [[id], false])
    },
  },
  {
    name: 'the holder of before is fenced off, and still recognises its own settle (0.13, 0.15)',
    run: async ({ store, start, settle, get, name, unchanged, claim }) => {
      const { id, epoch } = await start()
      const last = failure({ permanent: true })
      await settle(id, epoch, last)
      const { version } = await get(id)
      await store.jobs.retry({ id, version, command: name('command') })
      const late = await unchanged([id], () => settle(id, epoch, succeeded))
      assert.deepEqual(late, { settled: 'lost', state: 'queued' })
      const repeat = await unchanged([id], () => settle(id, epoch, last, true))
      assert.deepEqual(repeat, { settled: 'applied', state: 'queued' })
      await claim()
      const running = await unchanged([id], () => settle(id, epoch, succeeded))
      assert.deepEqual(running, { settled: 'lost', state: 'running' })
    },
  },
  {
    name: 'checkpoints outlive a retry (0.24)',
    run: async ({ store, start, settle, get, name }) => {
      const { id, epoch } = await start()
      await store.jobs.checkpoint({ id, epoch, key: 'at', value: '7' })
      await settle(id, epoch, failure({ permanent: true }))
      const { version } = await get(id)
      await store.jobs.retry({ id, version, command: name('command') })
      assert.deepEqual(await store.jobs.checkpoints({ id }), [{ key: 'at', value: '7' }])
    },
  },
]

const rescheduleCases: readonly Case[] = [
  {
    name: 'a reschedule moves the visible time to the delay from now, and nothing else (10.2)',
    run: async ({ store, start, settle, get, name, now }) => {
      const { id, epoch } = await start()
      await settle(id, epoch, failure({ delayMs: 5_000 }))
      for (const delayMs of [3_600_000, 0, 100 * 365 * 86_400_000]) {
        const before = await get(id)
        const command = name('command')
        const fromMs = await now()
        await store.jobs.reschedule({ id, version: before.version, command, delayMs })
        const after = await get(id)
        assertWithin(after.updatedAtMs, fromMs, await now())
        const { updatedAtMs } = after
        const moved = { visibleAtMs: updatedAtMs + delayMs, updatedAtMs, lastCommand: command }
        assertChanged(after, before, moved)
      }
    },
  },
  {
    name: 'it is due at the new time, not a millisecond before, and not at the old one (2.2)',
    needs: 'clock',
    run: async ({ store, enqueueOne, name, claim, advance }) => {
      const id = await enqueueOne({ delayMs: 1_000 })
      await store.jobs.reschedule({ id, version: 1, command: name('command'), delayMs: 5_000 })
      await advance(4_999)
      assert.deepEqual((await claim()).ids, [])
      await advance(1)
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'it goes to the back of its band, and stays in it (0.8)',
    run: async ({ store, enqueue, name, claim, pass }) => {
      const ids = (await enqueue({}, {}, { band: 3 })) as [string, string, string]
      await pass(2)
      await store.jobs.reschedule({ id: ids[0], version: 1, command: name('command'), delayMs: 0 })
      assert.deepEqual((await claim()).ids, [ids[1], ids[0], ids[2]])
    },
  },
  {
    name: 'an undispatched job gets its place by it, and is not repaired any more (10.2)',
    run: async ({ store, enqueueOne, name, claim }) => {
      const id = await enqueueOne({ undispatched: true })
      await store.jobs.reschedule({ id, version: 1, command: name('command'), delayMs: 0 })
      const { ids } = await store.jobs.repairDispatch({ limit: 100, olderMs: 0 })
      assert.ok(!ids.includes(id))
      assert.deepEqual((await claim()).ids, [id])
    },
  },
  {
    name: 'a job on its last eviction still runs alone after it (0.10)',
    run: async ({ store, start, seen, reclaim, get, name, claim, enqueueOne }) => {
      const { id } = await start({ leaseTtlMs: shortMs, maxEvictions: 2 })
      await seen(shortMs)
      await reclaim()
      const { version } = await get(id)
      await store.jobs.reschedule({ id, version, command: name('command'), delayMs: 0 })
      await enqueueOne({ band: 3 })
      assert.deepEqual((await claim({ solo: 'await' })).soloWaiting, true)
      assert.deepEqual((await claim()).ids, [id])
    },
  },
]

export const commandCases: readonly Case[] = [...both, ...retryCases, ...rescheduleCases]
