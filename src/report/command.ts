import type { Failure } from '../sim/tally.ts'
import { quoted } from './format.ts'
import type { Report } from './report.ts'

export type CommandContext = Pick<Report, 'replays' | 'module' | 'store' | 'families'>

/** The command that makes a failure happen again, to be pasted into a shell. */
export function replayCommand(failure: Failure, context: CommandContext): string {
  const path = replayPath(failure, context)
  if (path !== null) return `npx holdfast replay ${quoted(path)}`
  // Only a file holds a schedule; without one it is found anew.
  return failure.result?.deviations
    ? `npx holdfast explore ${byTopology(failure, context)}`
    : `npx holdfast replay ${bySeed(failure, context)}`
}

/** Its replay file; null if there is none. */
export function replayPath(
  { seed, property }: Failure,
  { replays }: Pick<CommandContext, 'replays'>,
): string | null {
  return replays.find((replay) => replay.seed === seed && replay.property === property)?.path ?? null
}

function byTopology({ scenario, result }: Failure, { module }: CommandContext): string {
  const { workers, jobs } = result?.size ?? {}
  return [
    ...(module === null ? [] : [quoted(module)]),
    ...(scenario === null ? [] : [`--scenario ${quoted(scenario)}`]),
    `--deviations ${result?.deviations?.length ?? 0}`,
    ...(workers === undefined ? [] : [`--workers ${workers}`]),
    ...(jobs === undefined ? [] : [`--jobs ${jobs}`]),
  ].join(' ')
}

function bySeed(failure: Failure, { module, store, families }: CommandContext): string {
  const { seed, scenario, result } = failure
  const parts = [seed, ...(scenario === null ? [] : [`--scenario ${quoted(scenario)}`]), `--store ${store}`]
  if (families) parts.push(`--faults ${families.join(',')}`)
  // Two runs that differed without a leak that was seen: it takes two to show it.
  if (failure.kind === 'nondeterministic' && !result?.leak) parts.push('--verify')
  return [...parts, ...(module === null ? [] : [`--module ${quoted(module)}`])].join(' ')
}
