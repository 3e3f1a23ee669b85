import { expect, test } from 'vitest'
import { digest } from '../../src/sim/hash.ts'
import { finalLogOf, historyOf } from '../../src/sim/history-of.ts'

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

test('lines that were appended, and what became of them in the end, are told as digests (13)', () => {
  const line = (at: number, text: string) => ({ line: at, level: 'info' as const, text })
  const params = { id: 'a', epoch: 2, lines: [line(0, 'one'), line(1, 'two')] }
  const texts = [digest('one'), digest('two')]
  for (const applied of [true, false]) {
    expect(historyOf('logs.append', params, { applied })).toEqual([
      { type: 'log.appended', job: 'a', epoch: 2, lines: [0, 1], texts, applied },
    ])
  }
  const dropped = '(7 lines were dropped here: they came faster than the store could take them)'
  const kept = ['two', dropped].map((text, k) => {
    return { n: 8 + k, atMs: 5, epoch: 2 + k, level: 'info' as const, text }
  })
  expect(finalLogOf({ id: 'a', next: 10, epoch: 3, line: 0, lines: kept })).toEqual({
    type: 'log.final',
    job: 'a',
    next: 10,
    ns: [8, 9],
    epochs: [2, 3],
    texts: [digest('two'), 0],
  })
})

test('that a store was restored is told with what it took back, uncharged, and that hold is lifted (28)', () => {
  const control = { hold: false, paused: ['slow'] }
  const taken = [{ id: 'a', epoch: 1_000_000, state: 'cancelled' as const }]
  expect(historyOf('control.restored', { command: 'c1' }, { control, timeline: 1, taken })).toEqual([
    { type: 'timeline.began', timeline: 1, token: 'c1' },
    { type: 'job.takenBack', job: 'a', epoch: 1_000_000, state: 'cancelled' },
    { type: 'control.changed', ...control },
  ])
})
