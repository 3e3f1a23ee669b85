import type { Summary } from '../sim/tally.ts'

/** Everything that one command found out. All reports are views of this. */
export interface Report {
  readonly command: string
  readonly version: string
  readonly engine: string
  readonly store: string
  /** The user's module with the scenarios, if it is not ours. */
  readonly module: string | null
  /** The only fault families of the runs, if not all of the scenario. */
  readonly families: readonly string[] | null
  readonly verdict: Verdict
  readonly seedsAsked: number | null
  readonly firstSeed: string
  readonly wallMs: number
  readonly summary: Summary
  /** Replay files that were written, by the seed and property of their failure. */
  readonly replays: readonly { readonly seed: string; readonly property: string; readonly path: string }[]
  /** Why the verdict is not a pass though nothing was violated. */
  readonly reasons: readonly string[]
}

export type Verdict = 'pass' | 'violated' | 'inconclusive' | 'nondeterministic'

/** 0 pass, 1 a property was violated or our own code broke, 3 inconclusive or vacuous, 4 nondeterministic or diverged. */
export const exitCodes: Readonly<Record<Verdict, number>> = {
  pass: 0,
  violated: 1,
  inconclusive: 3,
  nondeterministic: 4,
}

/** With fewer runs than this, a time was over before it began. */
const seedsInTimeMin = 10

/** What a run as a whole amounts to. A run that is not deterministic proves nothing else. */
export function verdictOf(
  summary: Summary,
  seedsAsked: number | null,
  interrupted: boolean = false,
): { readonly verdict: Verdict; readonly reasons: string[] } {
  const kinds = new Set(summary.failures.map(({ kind }) => kind))
  if (kinds.has('nondeterministic') || kinds.has('diverged'))
    return { verdict: 'nondeterministic', reasons: [] }
  if (kinds.has('violated') || kinds.has('error')) return { verdict: 'violated', reasons: [] }
  const reasons: string[] = [...summary.vacuous]
  if (interrupted) reasons.unshift('it was interrupted')
  if (kinds.has('hung') || kinds.has('livelock')) reasons.unshift('not every run came to its end')
  if (summary.seeds === 0) return { verdict: 'inconclusive', reasons: ['no seed came to its end'] }
  if (seedsAsked !== null && summary.seeds < seedsAsked) {
    reasons.unshift(`only ${summary.seeds} of ${seedsAsked} seeds were run`)
  }
  if (seedsAsked === null && summary.seeds < seedsInTimeMin) {
    reasons.unshift(`only ${summary.seeds} seeds were run in the time given; it takes ${seedsInTimeMin}`)
  }
  return { verdict: reasons.length > 0 ? 'inconclusive' : 'pass', reasons }
}
