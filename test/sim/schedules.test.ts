import { expect, test } from 'vitest'
import type { EventOf } from '../../src/engine/history.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { oneFiringPerSlot, property } from '../../src/properties/index.ts'
import { epochMs } from '../../src/sim/clock/node-clock.ts'
import { run } from '../../src/sim/run.ts'
import type { Scenario } from '../../src/sim/scenarios/scenario.ts'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const beat = defineJob<null>({ name: 'beat', leaseTtlMs: 120_000, run: ({ sleep }) => sleep(100) })

/** A day, and a little more so that its last slot can be fired. */
const day: Scenario = {
  name: 'day',
  says: 'one schedule for a day, while the engines that fire it come and go with clocks that are wrong',
  workers: 3,
  concurrency: 2,
  activeMs: dayMs + hourMs / 12,
  jobs: [beat],
  intervals: { sweepMs: 20_000, heartbeatMs: 20_000, pollMs: 5_000 },
  workload: () => [],
  schedules: [{ atMs: 1_000, key: 'ten', does: { job: beat, input: null, cron: '*/10 * * * *' } }],
  families: ['crash', 'shutdown', 'clock-skew', 'drift', 'timers', 'lost-reply', 'late-request'],
  swarm: false,
  density: 0.3,
}

test.each([1n, 2n, 3n])(
  '24 hours of */10 under changes of engines, skew and early timers make 144 jobs of 144 slots, seed %s (17.1)',
  async (seed) => {
    const events: EventOf<'job.inserted' | 'schedule.fired'>[] = []
    const heard = property({
      name: 'heard',
      kind: 'always',
      says: 'What there was is kept for the test to look at.',
      blindSpot: 'It judges nothing.',
      on: ['job.inserted', 'schedule.fired'],
      suspendedBy: [],
      start: () => null,
      step: (_state, event) => void events.push({ ...event }),
    })
    const properties = [oneFiringPerSlot, heard]
    const result = await run({ seed, scenario: day, store: rawMemoryStore, properties })
    expect(result).toMatchObject({ verdict: 'pass', detail: null, violations: [] })
    for (const family of ['crash', 'shutdown', 'clock-skew', 'timers', 'lost-reply', 'late-request'])
      expect(result.strikes[family] ?? 0).toBeGreaterThan(0)
    const ids = events.flatMap((event) => (event.type === 'job.inserted' && event.created ? [event.job] : []))
    const slots = Array.from({ length: 144 }, (_, k) => {
      return `ten@${new Date(epochMs + (k + 1) * (hourMs / 6)).toISOString()}`
    })
    expect(ids).toEqual(slots)
    const fired = events.filter((event) => event.type === 'schedule.fired' && event.outcome === 'fired')
    expect(new Set(fired.map(({ node, incarnation }) => `${node}#${incarnation}`)).size).toBeGreaterThan(6)
  },
)
