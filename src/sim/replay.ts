import { InvalidArgument } from '../engine/errors.ts'
import type { Draws } from './chooser.ts'
import type { Deviation, Size } from './explore/topology.ts'
import type { Fault } from './faults/fault.ts'
import { familyNamed } from './faults/index.ts'
import type { RunResult } from './run.ts'

/** A failing run, complete in itself: the plan of faults and the strict list of choices. It holds no environment. */
export interface ReplayFile {
  readonly format: 'holdfast-replay-1'
  readonly version: string
  /** Digest of the code that was run. */
  readonly engine: string
  readonly scenario: string
  /** The module that defines the scenario, if it is not one of ours; relative to where the command ran. */
  readonly file: string | null
  readonly store: string
  readonly seed: string
  readonly property: string
  readonly kind: string
  readonly subject: string
  readonly message: string
  /** The type of the event that showed it. */
  readonly on: string
  readonly event: number
  readonly traceHash: string
  readonly plan: readonly Fault[]
  /** Steps of the workload that are left out, by their number from 0. */
  readonly without: readonly number[]
  readonly draws: Draws
  /** How the schedule of a topology leaves the default; null: it is a run of a seed. */
  readonly deviations: readonly Deviation[] | null
  /** How that topology was sized. */
  readonly size?: Size
}

export function replayOf(
  result: RunResult & { readonly deviations?: readonly Deviation[]; readonly size?: Size },
  about: {
    readonly version: string
    readonly engine: string
    readonly file: string | null
    readonly store: string
  },
): ReplayFile {
  const first = result.violations[0]
  return {
    format: 'holdfast-replay-1',
    ...about,
    scenario: result.scenario,
    seed: result.seed,
    property: first?.property ?? result.verdict,
    kind: first?.kind ?? result.verdict,
    subject: first?.subject ?? 'run',
    on: first?.on ?? 'run',
    message: first?.message ?? result.detail ?? '',
    event: first?.event ?? result.events,
    traceHash: result.traceHash,
    plan: result.plan,
    without: result.without,
    draws: result.draws ?? [],
    deviations: result.deviations ?? null,
    ...(result.size && { size: result.size }),
  }
}

/** Throws `InvalidArgument` for anything that is no replay file. */
export function parseReplay(text: string): ReplayFile {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new InvalidArgument('this is no replay file: it is not JSON', { cause: error })
  }
  // Files of seeds were written before there were any of schedules.
  const file: Partial<ReplayFile> | null = value === null ? null : { deviations: null, ...(value as object) }
  const whole =
    file?.format === 'holdfast-replay-1' &&
    texts.every((key) => typeof file[key] === 'string') &&
    (file.file === null || typeof file.file === 'string') &&
    Number.isSafeInteger(file.event) &&
    Array.isArray(file.plan) &&
    file.plan.every(isFault) &&
    Array.isArray(file.without) &&
    file.without.every((step) => Number.isSafeInteger(step)) &&
    Array.isArray(file.draws) &&
    file.draws.every((draw) => Number.isSafeInteger(draw)) &&
    (file.deviations === null || (Array.isArray(file.deviations) && file.deviations.every(isDeviation)))
  if (!whole) throw new InvalidArgument('this is no replay file that this version reads (holdfast-replay-1)')
  return file as ReplayFile
}

const texts = [
  'version',
  'engine',
  'scenario',
  'store',
  'seed',
  'property',
  'kind',
  'on',
  'traceHash',
] as const

function isDeviation(value: unknown): value is Deviation {
  const deviation = value as Partial<Deviation> | null
  if (!Number.isSafeInteger(deviation?.step)) return false
  if (deviation?.what === 'swap') return Number.isSafeInteger(deviation.nth)
  return deviation?.what === 'fault' && isFault(deviation.fault)
}

function isFault(value: unknown): value is Fault {
  const fault = value as Partial<Fault> | null
  return (
    typeof fault?.id === 'string' &&
    typeof fault.family === 'string' &&
    familyNamed(fault.family) !== undefined &&
    Number.isSafeInteger(fault.atMs) &&
    (fault.atMs as number) >= 0
  )
}
