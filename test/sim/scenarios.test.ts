import { expect, test } from 'vitest'
import { standardProperties } from '../../src/properties/index.ts'
import { families, recordFamilies } from '../../src/sim/faults/index.ts'
import { judge } from '../../src/sim/judge.ts'
import { scenarios } from '../../src/sim/scenarios/index.ts'
import { createTally } from '../../src/sim/tally.ts'

const seeds = 40
const asked = [...families, ...recordFamilies]

test(`the built-in scenarios pass ${seeds} seeds, with every family injected and every invariant evaluated`, async () => {
  const tally = createTally({
    properties: standardProperties,
    asked: asked.map(({ name }) => name),
    single: false,
  })
  for (let k = 0; k < seeds; k++) {
    const request = {
      seed: `${k + 1}`,
      scenario: null,
      store: 'memory',
      families: null,
      verify: false,
      story: false,
      plan: null,
      draws: null,
    }
    tally.add(k, { kind: 'result', result: await judge(request, scenarios, {}) })
  }
  const summary = tally.summary()
  expect(summary.failures.map(({ property, seed, message }) => `${property} ${seed}: ${message}`)).toEqual([])
  expect(summary.vacuous).toEqual([])
  expect(Object.keys(summary.scenarios).sort()).toEqual(scenarios.map(({ name }) => name).sort())
  expect(Object.keys(summary.faults).sort()).toEqual(asked.map(({ name }) => name).sort())
})

test('names are told apart, and say what they are', () => {
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
  expect(new Set(asked.map(({ name }) => name)).size).toBe(asked.length)
  for (const { says } of [...scenarios, ...asked]) expect(says.length).toBeGreaterThan(10)
})
