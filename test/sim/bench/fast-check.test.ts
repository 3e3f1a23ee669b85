// Plans and workloads that fast-check makes: it finds the planted mistake, and shrinks it by itself.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidArgument } from '../../../src/engine/errors.ts'
import { faultPlan, workload } from '../../../src/sim/bench/fast-check.ts'
import { type Fault, type WorkStep, bench, trial } from '../../../src/sim/index.ts'
import { order, till } from './support.ts'

const cents = fc.record({ cents: fc.nat({ max: 1_000 }) })
const orders = workload({ job: order, input: cents, withinMs: 20_000, maxJobs: 5 })
const faults = { families: ['service-lost-reply', 'service-lost-request', 'crash', 'pause'] as const }
const over = { activeMs: 20_000, workers: 1, faults }

function holds(right: boolean) {
  const tried = till(!right, over)
  return fc.asyncProperty(faultPlan(tried, { maxFaults: 6 }), orders, async (plan, steps) => {
    const { failures } = await trial(tried, { plan, steps })
    if (failures[0]) throw new Error(failures[0].text)
  })
}

describe('fast-check', () => {
  test('finds the mistake, and shrinks it to one fault and one job', { timeout: 60_000 }, async () => {
    const found = await fc.check(holds(false), { seed: 42, numRuns: 200 })
    expect(found.failed).toBe(true)
    const [plan, steps] = found.counterexample as [Fault[], WorkStep[]]
    expect(plan).toHaveLength(1)
    expect(steps).toHaveLength(1)
    expect(steps[0]).toMatchObject({ atMs: 0, input: { cents: 0 }, options: { id: 'order-1' } })
    expect(String(found.errorInstance)).toContain('FAIL charged-once')
    expect(String(found.errorInstance)).toMatch(
      /replay: trial\(till, \{ seed: '0x1', ... \}\) with the same plan/,
    )
    // What is left is what it takes.
    expect((await trial(till(true, over), { plan: [], steps })).failures).toEqual([])
  })

  test('finds nothing where there is nothing', { timeout: 60_000 }, async () => {
    expect((await fc.check(holds(true), { seed: 42, numRuns: 40 })).failed).toBe(false)
  })
})

test('a plan holds only faults of the families of its bench, on its machines, in its time', () => {
  const families = new Set<string>(faults.families)
  fc.assert(
    fc.property(faultPlan(till(false, over)), (plan) => {
      expect(new Set(plan.map(({ id }) => id)).size).toBe(plan.length)
      for (const { family, node, atMs } of plan) {
        expect(families.has(family)).toBe(true)
        expect(node).toBe('w1')
        expect(atMs).toBeLessThan(20_000)
      }
    }),
    { numRuns: 50 },
  )
  const all = fc.sample(faultPlan(till(false, over)), { numRuns: 50, seed: 1 }).flat()
  expect(new Set(all.map(({ family }) => family)).size).toBe(4)
  expect(new Set(all.map(({ atMs }) => atMs)).size).toBeGreaterThan(all.length / 2)
  expect(new Set(all.flatMap(({ how = [] }) => how)).size).toBe(2)
})

test.each([
  [() => faultPlan({} as never), /made by bench/],
  [() => faultPlan(till(false), { maxFaults: 0 }), /maxFaults/],
  [
    () =>
      faultPlan(
        bench({ name: 'b', jobs: [order.handle(() => 1)], workload: () => {}, faults: { families: [] } }),
      ),
    /bench b has no fault families/,
  ],
  [() => workload({ job: {} as never, input: cents }), /job must be a definition/],
  [() => workload({ job: order, input: 7 as never }), /input must be an arbitrary of fast-check, not 7/],
  [() => workload({ job: order, input: cents, withinMs: 0 }), /withinMs/],
  [() => workload({ job: order, input: cents, maxJobs: 0 }), /maxJobs/],
  [() => workload({ job: order, input: cents, minJobs: 11 }), /minJobs/],
])('%s is refused', (make, reason) => {
  expect(make).toThrow(InvalidArgument)
  expect(make).toThrow(reason)
})

test('a trial refuses steps that are none', async () => {
  await expect(trial(till(false), { steps: [{}] as never })).rejects.toThrow(/step 0: atMs must be a number/)
})
