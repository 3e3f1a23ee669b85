// The shop of the examples, wrong and mended, in threads and in this process.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type * as Sim from '../../src/sim/index.ts'

const run = promisify(execFile)
const rootOf = (file: string): string => new URL(`../../${file}`, import.meta.url).href
const { simulate } = (await import(rootOf('dist/sim/index.js'))) as typeof Sim
const shop = async (name: string): Promise<Sim.Bench> =>
  ((await import(rootOf(`examples/shop/${name}.mjs`))) as { default: Sim.Bench }).default

describe('the shop of the examples', () => {
  test('prints the failure of the wrong one, and that the mended one passes', {
    timeout: 120_000,
  }, async () => {
    const { stdout } = await run(process.execPath, ['examples/shop/simulate.mjs', '12'])
    expect(stdout).toMatch(/^the wrong shop: violated\nFAIL charged-once /)
    expect(stdout).toMatch(/order (order-\d+) is charged twice: charge-\d+, then charge-\d+/)
    expect(stdout).toMatch(/replay: npx holdfast replay 0x\w+ .*--module examples\/shop\/wrong.mjs/)
    expect(stdout).toMatch(/\nthe mended shop: pass\n$/)
  })

  test('is found in threads as in this process, and left with little', { timeout: 120_000 }, async () => {
    const wrong = await shop('wrong')
    const found = await simulate(wrong, { seeds: 8 })
    expect(found).toMatchObject({ verdict: 'violated', where: 'threads', guard: 'preloaded' })
    const here = await simulate(wrong, { seeds: 8, shrinkMs: 0, where: 'here' })
    expect(here).toMatchObject({ verdict: 'violated', where: 'here', traceHash: found.traceHash })
    expect(here.properties).toEqual(found.properties)
    expect(new Set(found.failures.map(({ property }) => property))).toEqual(new Set(['charged-once']))
    const [first] = found.failures
    expect(first?.shrunk).toBe(true)
    expect(first?.faults).toHaveLength(1)
    expect(first?.steps).toBeLessThanOrEqual(3)
  })

  test('holds with the same seeds once it is mended', { timeout: 120_000 }, async () => {
    const { verdict, reasons, properties } = await simulate(await shop('mended'), { seeds: 12 })
    expect({ verdict, reasons }).toEqual({ verdict: 'pass', reasons: [] })
    for (const name of ['charged-once', 'receipt-mailed'])
      expect(properties.find((property) => property.name === name)).toMatchObject({
        reached: true,
        violations: 0,
      })
  })
})
