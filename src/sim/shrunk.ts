import type { RunRequest } from './judge.ts'
import { fingerprintOf } from './shrink.ts'
import type { Failure } from './tally.ts'
import type { PoolOptions } from './threads/pool.ts'

/** Of more different failures than this, the rest is told as it came. */
const shrunkMax = 5

/** Runs requests, somewhere, until there are none. */
export type Deal = (work: Pick<PoolOptions, 'next' | 'done'>) => Promise<void>

/**
 * The failures, the first of each kind shrunk to what it takes. One whose shrinking did not come to an end stays as it
 * was.
 */
export async function shrunk(
  failures: readonly Failure[],
  deal: Deal,
  { store, shrinkMs }: { readonly store: string; readonly shrinkMs: number },
): Promise<readonly Failure[]> {
  const kinds = new Set<string>()
  const asked: { readonly at: number; readonly request: RunRequest }[] = []
  for (const [at, { kind, result }] of failures.entries()) {
    const violation = result?.violations[0]
    if (kind !== 'violated' || !violation || asked.length === shrunkMax) continue
    const fingerprint = fingerprintOf(violation)
    const key = JSON.stringify(fingerprint)
    if (kinds.has(key)) continue
    kinds.add(key)
    const { seed, scenario, plan, without } = result
    const request = {
      seed,
      scenario,
      store,
      families: null,
      verify: false,
      story: true,
      plan,
      without,
      draws: null,
    }
    asked.push({ at, request: { ...request, fingerprint, shrinkMs } })
  }
  const left = asked.values()
  const told = [...failures]
  await deal({
    next: () => {
      const { value } = left.next()
      return value ? { index: value.at, request: value.request } : null
    },
    done: (at, ran) => {
      const failure = failures[at] as Failure
      if (ran.kind !== 'result' || ran.result.verdict !== 'violated') return
      const message = ran.result.violations[0]?.message ?? failure.message
      told[at] = { ...failure, message, result: ran.result }
    },
  })
  return told
}
