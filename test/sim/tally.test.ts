import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { standardProperties } from '../../src/properties/index.ts'
import { judge } from '../../src/sim/judge.ts'
import { scenarios } from '../../src/sim/scenarios/index.ts'
import { type Tally, type TallyOptions, createTally } from '../../src/sim/tally.ts'
import type { Ran } from '../../src/sim/threads/pool.ts'
import { mixedWork } from '../../src/sim/scenarios/jobs.ts'

const request = {
  scenario: null,
  store: 'memory',
  families: null,
  verify: false,
  story: false,
  plan: null,
  draws: null,
}
const short = scenarios.map((scenario) => ({
  ...scenario,
  activeMs: 60_000,
  workload: (draw: Parameters<typeof scenario.workload>[0]) => mixedWork(10, 60_000, draw),
}))

async function ran(seeds: number): Promise<Ran[]> {
  const all: Ran[] = []
  for (let k = 0; k < seeds; k++) {
    all.push({ kind: 'result', result: await judge({ ...request, seed: `${k}` }, short, {}) })
  }
  return all
}

function tallyOf(runs: readonly Ran[], over: Partial<TallyOptions> = {}): Tally {
  const tally = createTally({ properties: standardProperties, asked: [], single: false, ...over })
  for (const [index, run] of runs.entries()) tally.add(index, run)
  return tally
}

const hung: Ran = { kind: 'hung', request: { ...request, seed: '0x7', families: null }, silentMs: 10_004 }
const died: Ran = { kind: 'died', request: { ...request, seed: '0x8', families: null }, message: 'code 1' }

test('the order in which results come does not matter', async () => {
  const runs = [...(await ran(14)), hung, died]
  const expected = tallyOf(runs).summary()
  const order = fc.shuffledSubarray([...runs.keys()], { minLength: runs.length, maxLength: runs.length })
  fc.assert(
    fc.property(order, (indices) => {
      const tally = tallyOf([])
      for (const index of indices) tally.add(index, runs[index] as Ran)
      expect(tally.summary()).toEqual(expected)
    }),
    { numRuns: 30 },
  )
  expect(expected.failures.map(({ seed }) => seed)).toEqual(['0x7', '0x8'])
})

test('the trace hash is that of the runs in the order of their seeds', async () => {
  const runs = await ran(3)
  const { traceHash } = tallyOf(runs).summary()
  expect(tallyOf([...runs].reverse()).summary().traceHash).not.toBe(traceHash)
  expect(tallyOf(runs.slice(1)).summary().traceHash).not.toBe(traceHash)
})

describe('a run that did not come back', () => {
  test('is told with its seed, and counts as none', () => {
    const { seeds, failures } = tallyOf([hung, died]).summary()
    expect(seeds).toBe(0)
    expect(failures).toMatchObject([
      { kind: 'hung', seed: '0x7', scenario: null, result: null },
      { kind: 'error', seed: '0x8', scenario: null, result: null },
    ])
    expect(failures[0]?.message).toContain('no sign of life for 10004 ms')
    expect(failures[1]?.message).toContain('ended its thread: code 1')
  })
})

describe('vacuity (B05)', () => {
  const vacuousOf = (runs: readonly Ran[], over?: Partial<TallyOptions>): readonly string[] =>
    tallyOf(runs, over).summary().vacuous

  test('an invariant that could have been evaluated and never was', async () => {
    const one = await ran(1)
    expect(vacuousOf([])).toContain('fencing was never evaluated')
    expect(vacuousOf(one)).not.toContain('fencing was never evaluated')
  })

  test('one that needs a fault that never struck is left out', async () => {
    const calm = await judge({ ...request, seed: '0', families: [] }, short, {})
    expect(calm.strikes).toEqual({})
    const vacuous = vacuousOf([{ kind: 'result', result: calm }])
    expect(vacuous).not.toContain('dead-worker-recovered was never evaluated')
    expect(vacuous).not.toContain('database-time-only was never evaluated')
  })

  test('a family that was asked for and never struck', async () => {
    const calm = await judge({ ...request, seed: '0', families: [] }, short, {})
    expect(vacuousOf([{ kind: 'result', result: calm }], { asked: ['crash'], single: true })).toEqual([
      'fault family crash was never injected',
    ])
  })

  test('of one seed no single invariant is expected, but any at all', async () => {
    const calm = await judge({ ...request, seed: '0', families: [] }, short, {})
    expect(vacuousOf([{ kind: 'result', result: calm }], { single: true })).toEqual([])
    const idle = short.map((scenario) => ({ ...scenario, workload: () => [] }))
    const nothing = await judge({ ...request, seed: '0' }, idle, {})
    expect(vacuousOf([{ kind: 'result', result: nothing }], { single: true })).toEqual([
      'no invariant was ever evaluated: there was no work',
    ])
  })

  describe("of a bench's own properties", () => {
    const own = (name: string, kind: 'always' | 'sometimes', evaluations: number) => {
      const judged = { suspendedBy: [], suspended: 0 }
      return { name, kind, needs: [], own: true, met: true, evaluations, violations: 0, ...judged }
    }
    const runsWith = async (more: readonly ReturnType<typeof own>[], seeds: number): Promise<Ran[]> => {
      const calm = await judge({ ...request, seed: '0', families: [] }, short, {})
      const result = { ...calm, tallies: [...calm.tallies, ...more] }
      return Array.from({ length: seeds }, () => ({ kind: 'result', result }))
    }

    test('those are expected, and not the promises of the engine', async () => {
      expect(vacuousOf(await runsWith([own('mine', 'always', 3)], 1))).toEqual([])
      expect(vacuousOf(await runsWith([own('mine', 'always', 0)], 1))).toEqual(['mine was never evaluated'])
      const { properties } = tallyOf(await runsWith([own('mine', 'always', 3)], 2)).summary()
      expect(properties.at(-1)).toEqual({
        name: 'mine',
        kind: 'always',
        evaluations: 6,
        violations: 0,
        suspendedBy: [],
        suspended: 0,
        reached: true,
        applicable: true,
      })
    })

    test('a situation of its own is missed from 100 seeds on, one of ours is not', async () => {
      const both = [own('mine', 'always', 1), own('once', 'sometimes', 0)]
      expect(vacuousOf(await runsWith(both, 99), { partial: true })).toEqual([])
      expect(vacuousOf(await runsWith(both, 100), { partial: true })).toEqual(['once was never reached'])
    })
  })

  test('what never happened counts from 100 seeds on', async () => {
    const [calm] = await ran(1)
    const many = (seeds: number): Ran[] => Array.from({ length: seeds }, () => calm as Ran)
    const never = (seeds: number): boolean =>
      vacuousOf(many(seeds)).some((text) => text.endsWith('was never reached'))
    expect([never(99), never(100)]).toEqual([false, true])
  })
})
