import { expect } from 'vitest'
import { type SimulateOptions, type Simulated, requireBench, simulate } from './simulate.ts'

/**
 * Import it once, in a test or a set-up file: `await expect(shop).toHoldFor({ seeds: 100 })`. The failure of the test
 * is that of the report: what broke, the least that it takes, its story, and how to see it again. Give the test the time
 * that its seeds take, as `vitest`'s `timeout`.
 */
interface HoldMatchers {
  /**
   * Simulates the bench (see `simulate`), and fails unless all its properties held. What is inconclusive or not
   * deterministic fails either way, also under `.not`. Throws `InvalidArgument`.
   */
  toHoldFor(options: SimulateOptions): Promise<void>
}

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-explicit-any typescript/no-empty-object-type no-unused-vars -- a declaration merges only with its like
  interface Matchers<T = any> extends HoldMatchers {}
}

const failuresShown = 3

expect.extend({
  async toHoldFor(bench: unknown, options: SimulateOptions) {
    requireBench(bench)
    const found = await simulate(bench, options)
    const decided = found.verdict === 'pass' || found.verdict === 'violated'
    const pass = decided ? found.verdict === 'pass' : this.isNot
    return { pass, message: () => messageOf(bench.name, found) }
  },
})

function messageOf(name: string, { verdict, seeds, reasons, failures, guard, where }: Simulated): string {
  if (verdict === 'pass') return `bench ${name} held for ${seeds} seeds`
  const kinds = new Set<string>()
  const shown = failures.filter(({ property, kind }) => {
    const key = `${property} ${kind}`
    return kinds.has(key) ? false : kinds.add(key).size <= failuresShown
  })
  const head = {
    violated: `bench ${name} does not hold: ${failures.length} of ${seeds} seeds failed`,
    inconclusive: `bench ${name} is inconclusive: nothing was violated, but that proves nothing`,
    nondeterministic: `bench ${name} is not deterministic, so it can neither hold nor fail`,
  }[verdict]
  const late =
    verdict === 'nondeterministic' && guard === 'late' && where === 'here'
      ? [
          "  the leak guard came late: add execArgv: ['--import', 'holdfast/sim/preload'] to vitest's test options",
        ]
      : []
  return [
    head,
    ...reasons.map((reason) => `  - ${reason}`),
    ...late,
    '',
    ...shown.map(({ text }) => text),
  ].join('\n')
}
