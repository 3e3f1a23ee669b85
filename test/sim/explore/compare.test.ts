// With pruning everything is reached that is reached without: on small topologies, and on random ones.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Nap, core } from '../../../src/sim/explore/topologies/common.ts'
import { topologies, topologyNamed } from '../../../src/sim/explore/topologies/index.ts'
import type { ExploredFamily, FaultOption, Topology } from '../../../src/sim/explore/topology.ts'
import { reached, small } from './support.ts'

async function expectSame(topology: Topology, deviations: number): Promise<number> {
  const all = await reached(topology, { deviations, prune: false })
  const pruned = await reached(topology, { deviations })
  expect(pruned.explored.found).toEqual(all.explored.found)
  expect(pruned.states).toEqual(all.states)
  expect(pruned.databases).toEqual(all.databases)
  expect(pruned.explored.distinct).toBe(all.states.size)
  expect(pruned.explored.states).toBeLessThanOrEqual(all.explored.states)
  return pruned.explored.pruned
}

describe('with and without pruning the same is reached', () => {
  test.each([
    'claim-race',
    'lost-claim-reply',
    'lease-lapse',
    'shutdown-against-claim',
    'hold-against-claim',
    'schedule-hand-over',
  ])('%s', { timeout: 60_000 }, async (name) => {
    expect(await expectSame(topologyNamed(name, topologies), 1)).toBeGreaterThan(0)
  })

  test('after stops that another process follows sooner or later', async () => {
    const calls = ['jobs.settle', 'watch.move']
    const faults = [500, 4_000].map((forMs) => ({ family: 'shutdown', forMs, calls }) as const)
    expect(await expectSame(small({ faults }), 1)).toBeGreaterThan(0)
  })

  test('after a producer has asked three times', async () => {
    const calls = ['jobs.insert']
    const faults: FaultOption[] = [
      { family: 'late-request', forMs: 2_000, calls },
      { family: 'late-request', forMs: 9_000, calls },
      { family: 'database-restart', forMs: 500, lands: true, calls },
    ]
    expect(await expectSame(small({ faults, horizonMs: 14_000 }), 3)).toBeGreaterThan(0)
  })

  test('after an operator has given a command twice', async () => {
    const order = { command: 'retry', job: 'j1' } as const
    const faults: FaultOption[] = [{ family: 'operator', order, calls: ['watch.move'] }]
    expect(await expectSame(small({ faults }), 2)).toBeGreaterThan(0)
  })

  test('after two deviations', { timeout: 60_000 }, async () => {
    const topology = { ...topologyNamed('cancel-against-complete', topologies), horizonMs: 20_000 }
    expect(await expectSame(topology, 2)).toBeGreaterThan(0)
  })
})

test.each(['lost-claim-reply', 'zombie-settle', 'more-jobs-than-slots'])(
  'the order in which schedules are walked changes nothing: %s',
  { timeout: 60_000 },
  async (name) => {
    const topology = topologyNamed(name, topologies)
    const one = await reached(topology, { deviations: 1 })
    const other = await reached(topology, { deviations: 1, reversed: true })
    expect(other.states).toEqual(one.states)
    expect(other.databases).toEqual(one.databases)
    expect(other.explored.distinct).toBe(one.explored.distinct)
  },
)

const calls = [
  'jobs.insert',
  'claims.claim',
  'claims.renew',
  'jobs.settle',
  'watch.move',
  'jobs.requestCancel',
  'control.set',
] as const
const families: readonly ExploredFamily[] = [
  'lost-request',
  'lost-reply',
  'late-request',
  'slow-reply',
  'pause',
  'crash',
  'shutdown',
  'database-restart',
  'outage-long',
]
/** Few lengths, so that schedules meet again. */
const length = fc.constantFrom(10, 70, 500, 2_000, 6_000, 13_000)
const fault: fc.Arbitrary<FaultOption> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      family: fc.constantFrom(...families),
      forMs: length,
      lands: fc.boolean(),
      calls: fc.subarray([...calls], { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      family: fc.constant('operator' as const),
      order: fc.oneof(
        fc.record({ command: fc.constantFrom('cancel' as const, 'retry' as const), job: fc.constant('j1') }),
        fc.record({ command: fc.constantFrom('hold' as const, 'resume' as const) }),
      ),
      calls: fc.subarray([...calls], { minLength: 1, maxLength: 2 }),
    }),
  },
)

const topology: fc.Arbitrary<Topology> = fc
  .record({
    workers: fc.integer({ min: 1, max: 2 }),
    concurrency: fc.integer({ min: 1, max: 2 }),
    leaseTtlMs: fc.constantFrom(12_000, 13_000),
    timeoutMs: fc.constantFrom(3_000, 30_000),
    sweepMs: fc.constantFrom(700, 1_000),
    pollMs: fc.constantFrom(500, 1_000, 3_000),
    naps: fc.array(fc.constantFrom(0, 500, 4_000, 9_000), { minLength: 1, maxLength: 2 }),
    faults: fc.array(fault, { minLength: 1, maxLength: 2 }),
    horizonMs: fc.constantFrom(8_000, 16_000),
  })
  .map(({ leaseTtlMs, timeoutMs, sweepMs, pollMs, naps, ...rest }) => {
    const nap = defineJob<Nap>({
      name: 'nap',
      leaseTtlMs,
      timeoutMs,
      retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 500, jitter: false } },
      run: ({ input, sleep }) => sleep(input.forMs),
    })
    return {
      ...rest,
      name: 'random',
      says: 'drawn',
      sweepers: 0,
      intervals: { pollMs, pollMsMax: 3_000, sweepMs, heartbeatRetryMs: 500, replyMs: 100, abandonMs: 1_000 },
      jobs: [nap],
      work: naps.map((forMs, k) => ({
        atMs: 400 * k,
        job: nap,
        input: { forMs },
        options: { id: `j${k + 1}` },
      })),
      properties: core,
      deviations: 1,
    }
  })

test('with and without pruning the same is reached, whatever the system', { timeout: 120_000 }, async () => {
  let pruned = 0
  await fc.assert(
    fc.asyncProperty(topology, async (drawn) => void (pruned += await expectSame(drawn, 1))),
    { numRuns: 25, seed: 7 },
  )
  expect(pruned).toBeGreaterThan(100)
})
