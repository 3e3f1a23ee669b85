import { expect, test } from 'vitest'
import { historyOf } from '../../src/sim/history-of.ts'

test('a job that was adopted was taken back like any other: the properties see it (4.5)', () => {
  const taken = { epoch: 2, evictions: 1, state: 'queued' } as const
  const reply = { jobs: [{ id: 'a', ...taken }] }
  const event = { type: 'job.reclaimed', job: 'a', ...taken }
  expect(historyOf('jobs.adopt', { limit: 9, silentMs: 1 }, reply)).toEqual([event])
  expect(historyOf('jobs.reclaim', { limit: 9 }, { ...reply, heldBack: 3, full: false })).toEqual([
    event,
    { type: 'reclaim.heldBack', leases: 3 },
  ])
})
