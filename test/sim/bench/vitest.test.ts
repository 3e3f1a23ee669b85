// The matcher: what holds, what does not, and what is neither.
import { expect, test } from 'vitest'
import { property } from '../../../src/properties/index.ts'
import '../../../src/sim/bench/vitest.ts'
import { chargedOnce, till } from './support.ts'

async function messageOf(assertion: Promise<void>): Promise<string> {
  return assertion.then(
    () => 'it passed',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

const never = property({ ...chargedOnce, name: 'never-asked', on: ['exclusive.began'] })
const leaks = property({ ...chargedOnce, name: 'asks', step: () => void Date.now() })

test('a bench that holds passes, and fails under not', async () => {
  await expect(till(false)).toHoldFor({ seeds: 20 })
  expect(await messageOf(expect(till(false)).not.toHoldFor({ seeds: 20 }))).toBe(
    'bench till held for 20 seeds',
  )
})

test('one that does not fails with what broke, the least that it takes, its story and its replay', async () => {
  const message = await messageOf(expect(till(true)).toHoldFor({ seeds: 12 }))
  expect(message).toMatch(/^bench till does not hold: \d+ of 12 seeds failed/)
  expect(message).toContain('FAIL charged-once')
  expect(message).toMatch(/faults drawn \d+, needed [12]; jobs drawn 10, needed [123] /)
  expect(message).toMatch(/claims order-\d+ at epoch 1/)
  expect(message).toMatch(/replay: replay\(till, '0x\w+'\)$/)
  await expect(till(true)).not.toHoldFor({ seeds: 12, shrinkMs: 0 })
})

test('what proves nothing fails either way', async () => {
  const vacuous = till(false, { properties: [chargedOnce, never] })
  const says = /^bench till is inconclusive.*\n {2}- never-asked was never evaluated/
  expect(await messageOf(expect(vacuous).toHoldFor({ seeds: 20 }))).toMatch(says)
  expect(await messageOf(expect(vacuous).not.toHoldFor({ seeds: 20 }))).toMatch(says)
  const leaking = till(false, { properties: [leaks] })
  const lawless = /^bench till is not deterministic[^]*Date.now at .*vitest.test.ts/
  expect(await messageOf(expect(leaking).toHoldFor({ seeds: 1 }))).toMatch(lawless)
  expect(await messageOf(expect(leaking).not.toHoldFor({ seeds: 1 }))).toMatch(lawless)
})

test('what is no bench is refused', async () => {
  expect(await messageOf(expect({}).toHoldFor({ seeds: 1 }))).toMatch(/made by bench/)
})
