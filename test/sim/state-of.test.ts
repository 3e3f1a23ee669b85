import { beforeAll, describe, expect, test } from 'vitest'
import { stateText } from '../../src/report/state.ts'
import type { Fault } from '../../src/sim/faults/fault.ts'
import { judge } from '../../src/sim/judge.ts'
import { scenarios } from '../../src/sim/scenarios/index.ts'
import type { WorldState } from '../../src/sim/state-of.ts'

/** At 100 s w1 dies, at 131 s the database goes away, and a fault begins to wait for a call of w2 that never comes. */
const plan: readonly Fault[] = [
  { id: 'crash #1', family: 'crash', atMs: 100_000, node: 'w1', forMs: 90_000 },
  { id: 'outage-long #1', family: 'outage-long', atMs: 131_000, forMs: 60_000, how: 'reset' },
  {
    id: 'lost-reply #1',
    family: 'lost-reply',
    atMs: 130_000,
    node: 'w2',
    call: 'leases.acquire',
    how: 'reset',
  },
]
const base = { scenario: 'saturated', families: null, verify: false, story: true, draws: null, plan }

async function at(until: number, store = 'memory') {
  const { state, story, verdict } = await judge({ ...base, seed: '0x1', store, until }, scenarios, {})
  expect(verdict).toBe('pass')
  if (!state || !story) throw new TypeError('there is no state')
  return { state, story }
}

const open = ({ database }: WorldState) =>
  database.jobs.filter(({ state }) => ['queued', 'running'].includes(state))

describe('a run that is stopped after an event', () => {
  /** The first event after 150 s. */
  let during = 0
  beforeAll(async () => {
    const { story } = await at(1_000_000)
    during = story.filter((line) => 'step' in line && line.atMs < 150_000).length
  })

  test('stands as it did then: who is dead, what is away, what waits, which job is whose', async () => {
    const { state, story } = await at(during)
    expect(state.events).toBe(during)
    expect(story.filter((line) => 'step' in line)).toHaveLength(during)
    const [, w1, w2] = state.nodes
    expect(w1).toMatchObject({ name: 'w1', is: 'dead', status: null, handlers: [] })
    expect(w2).toMatchObject({
      name: 'w2',
      is: 'up',
      status: 'degraded',
      armed: ['lost-reply #1 (leases.acquire)'],
    })
    expect(state.database.down).toBe('outage-long #1')
    const claimed = new Map<string, number>()
    for (const line of story)
      if ('type' in line && line.type === 'job.claimed') claimed.set(line.job, line.epoch)
    const running = state.database.jobs.filter(({ lease }) => lease !== null)
    expect(running.length).toBeGreaterThan(0)
    for (const { id, epoch, lease } of running) {
      expect(claimed.get(id)).toBe(epoch)
      expect(lease?.endsMs).toBeGreaterThan(100_000)
      expect(lease?.worker).toMatch(/^w[12]~/)
    }
  })

  test('is the same on SQLite', async () => {
    expect((await at(during, 'sqlite')).state).toEqual((await at(during)).state)
  })

  test('later than its end is shown at its end', async () => {
    const { state } = await at(1_000_000)
    expect(open(state)).toEqual([])
    expect(state.nodes.flatMap(({ handlers }) => handlers)).toEqual([])
    expect(state.database.down).toBe(null)
  })

  test('is told with the jobs that have not ended, and those it is about', async () => {
    const { state } = await at(during)
    const [about, other] = state.database.jobs.filter((job) => !open(state).includes(job))
    const text = stateText(state, new Set([about?.id ?? ''])).join('\n')
    expect(text).toContain(`as it stands after event ${during.toLocaleString('en-US')}, at +149.`)
    for (const { id } of [...open(state), about ?? { id: 'none' }])
      expect(text).toMatch(new RegExp(`^ +${id} `, 'm'))
    expect(text).not.toMatch(new RegExp(`^ +${other?.id} `, 'm'))
    expect(text).toMatch(/jobs that have ended: \d+ succeeded/)
    expect(text).toContain('database away (outage-long #1)')
    expect(text).toMatch(/w1#1 +dead/)
  })
})
