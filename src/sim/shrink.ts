import type { Fault } from './faults/fault.ts'
import type { Violation } from './recorder.ts'
import type { RunOptions, RunResult } from './run.ts'

/** What makes two failures one: which property was violated how, and by what kind of event. */
export type Fingerprint = Pick<Violation, 'property' | 'kind' | 'on'>

export interface ShrinkOptions {
  readonly fingerprint: Fingerprint
  /** When it is over, the best so far is kept; one run may be under way. In ms. */
  readonly boundMs: number
}

/** What came of the shrinking of a failure. */
export interface Shrunk {
  /** Faults and steps of the workload that the seed drew. */
  readonly faults: number
  readonly steps: number
  readonly runs: number
  readonly wallMs: number
  /** Without any one of what is left the failure does not happen; else the time was over. */
  readonly minimal: boolean
  /** Other failures that were met on the way, as property and kind. */
  readonly also: readonly string[]
}

/** What can be left out: a fault of the plan, or a step of the workload by its number. */
type Part = Fault | number

export function fingerprintOf({ property, kind, on }: Violation): Fingerprint {
  return { property, kind, on }
}

export function matches(fingerprint: Fingerprint): (violation: Violation) => boolean {
  return ({ property, kind, on }) =>
    property === fingerprint.property && kind === fingerprint.kind && on === fingerprint.on
}

/** The same result, telling that failure first. */
export function tellingFirst(result: RunResult, fingerprint: Fingerprint): RunResult {
  const same = matches(fingerprint)
  const first = result.violations.find(same)
  if (!first) return result
  return { ...result, violations: [first, ...result.violations.filter((other) => other !== first)] }
}

/**
 * Delta debugging (Zeller and Hildebrandt, 2002) over the faults and the steps of a failing run, to a set of which
 * none can be left out. Draws are keyed, so what is left stays where it was. Another failure is noted, not followed.
 * `play` runs a candidate; `nowMs` is the real time.
 */
export async function shrink(
  failing: Pick<RunResult, 'plan' | 'without' | 'steps' | 'story'>,
  { fingerprint, boundMs }: ShrinkOptions,
  play: (candidate: Required<Pick<RunOptions, 'plan' | 'without'>>) => Promise<RunResult>,
  nowMs: () => number,
): Promise<Shrunk & { readonly plan: readonly Fault[]; readonly without: readonly number[] }> {
  const startedMs = nowMs()
  const same = matches(fingerprint)
  const also = new Set<string>()
  const tried = new Set<string>()
  const steps = Array.from({ length: failing.steps }, (_, k) => k).filter((k) => !failing.without.includes(k))
  let best: readonly Part[] = [...failing.plan, ...steps]
  let runs = 0
  const late = (): boolean => nowMs() - startedMs >= boundMs

  function candidateOf(parts: readonly Part[]): Required<Pick<RunOptions, 'plan' | 'without'>> {
    const kept = new Set(parts)
    return {
      plan: failing.plan.filter((fault) => kept.has(fault)),
      without: Array.from({ length: failing.steps }, (_, k) => k).filter((k) => !kept.has(k)),
    }
  }

  /** Answers whether it fails the same way, and then keeps it. */
  async function keeps(parts: readonly Part[]): Promise<boolean> {
    const key = parts.map((part) => (typeof part === 'number' ? part : part.id)).join()
    if (tried.has(key) || late()) return false
    tried.add(key)
    runs += 1
    const { violations } = await play(candidateOf(parts))
    for (const other of violations) if (!same(other)) also.add(`${other.property}: ${other.kind}`)
    if (!violations.some(same)) return false
    best = parts
    return true
  }

  const struck = new Set((failing.story ?? []).flatMap((line) => ('fault' in line ? [line.fault] : [])))
  if (struck.size > 0) await keeps(best.filter((part) => typeof part === 'number' || struck.has(part.id)))
  await keeps(best.filter((part) => typeof part === 'number'))
  let parts = 2
  while (best.length > 0 && !late()) {
    const size = Math.ceil(best.length / parts)
    const before: readonly Part[] = best
    let from = 0
    let found = false
    while (from < best.length && !late()) {
      const [start, end] = [from, from + size]
      // What was left out is gone from `best`: the next chunk begins where it did.
      if (await keeps(best.filter((_, k) => k < start || k >= end))) found = true
      else from += size
    }
    if (found) parts = Math.max(2, Math.min(parts, best.length))
    else if (size <= 1) break
    else parts = Math.min(before.length, 2 * parts)
  }
  return {
    ...candidateOf(best),
    faults: failing.plan.length,
    steps: failing.steps,
    runs,
    wallMs: Math.round(nowMs() - startedMs),
    minimal: !late(),
    also: [...also].sort(),
  }
}
