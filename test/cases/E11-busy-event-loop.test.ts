// A real process with a handler that keeps its event loop busy for longer than the lease, and one that waits.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { start } from '../stores/sqlite/processes.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, gated, stores } from './support.ts'

trapUnhandledRejections()

const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-busy-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('E11: its job is run by another, what it returns is refused, and it says that its loop stalled', async () => {
  const [file, flag] = [path.join(directory, 'jobs.db'), path.join(directory, 'flag')]
  const busy = start('spinner.mjs', file, 'busy', flag)
  await busy.heard('ready')
  busy.process.send('go')
  await busy.heard('spinning')
  const other = start('spinner.mjs', file, 'other')
  await other.heard('attempt.confirmed')
  const store = sqliteStore({ file })
  const before = await store.jobs.get({ id: 'x' })
  expect(before).toMatchObject({
    state: 'succeeded',
    attempt: 2,
    failures: 0,
    evictions: 1,
    result: '"other"',
  })
  // Only now does its handler return; what it then sends is late by more than a lease.
  writeFileSync(flag, '')
  expect(await busy.heard('loop.stalled')).toMatchObject({ jobs: ['x'] })
  expect((await busy.heard('loop.stalled'))['forMs']).toBeGreaterThan(1_000)
  for (const { process } of [busy, other]) process.send('stop')
  expect(await Promise.all([busy.ended(), other.ended()])).toEqual([0, 0])
  const refused = busy.messages.filter(({ kind }) => kind.startsWith('attempt.'))
  expect(refused).toHaveLength(1)
  expect([refused[0]?.kind, refused[0]?.['settled'] ?? 'lost']).toEqual([refused[0]?.kind, 'lost'])
  expect(await store.jobs.get({ id: 'x' })).toEqual(before)
  await store.close()
}, 60_000)

describe.each(stores)('E11 on %s: a process that stood still for two leases', (_name, open) => {
  test('does not revive with a late heartbeat what another has taken, and says how long, with which jobs', async () => {
    const all = fleet(open)
    const work = gated()
    const a = all.process({ jobs: [work.job] })
    await a.engine.start()
    await a.engine.enqueueMany(['x', 'y'].map((id) => ({ job: work.job, input: null, id })))
    await all.clock.settle()
    // For whoever shares its clock, too: nothing runs in that minute.
    await all.clock.freeze(60_000)
    expect(a.of('loop.stalled')).toEqual([{ type: 'loop.stalled', forMs: 50_000, jobs: ['x', 'y'] }])
    await all.clock.advance(60_000)
    expect(a.of('loop.stalled')).toHaveLength(1)
    await all.stop()
  })

  test('a heartbeat that is late by less than a slow reply is no stall, nor is one with nothing in flight', async () => {
    const all = fleet(open)
    const work = gated()
    const a = all.process({ jobs: [work.job] })
    await a.engine.start()
    await all.clock.freeze(60_000)
    await a.engine.enqueue(work.job, null)
    await all.clock.settle()
    await all.clock.freeze(10_900)
    expect(a.of('loop.stalled')).toEqual([])
    await all.stop()
  })
})
