import { Diverged } from '../chooser.ts'
import type { Stop } from '../driver.ts'
import type { Recorder } from '../recorder.ts'
import { type WorldState, stateOf } from '../state-of.ts'
import { type RunResult, verdictOf } from '../run.ts'
import type { Deviation, Topology } from './topology.ts'
import { walk } from './walk.ts'

export interface RetraceOptions {
  readonly keepStory?: boolean
  readonly beat?: () => void
  /** Stop after so many events; default: at the end. */
  readonly until?: number
}

/**
 * One schedule of a topology again, by its deviations: what a run of a seed tells, for the same reports. It diverges
 * where a deviation cannot be taken: the code is not that which the schedule was found with.
 */
export async function retrace(
  topology: Topology,
  deviations: readonly Deviation[],
  { keepStory = false, beat = () => {}, until = Number.POSITIVE_INFINITY }: RetraceOptions = {},
): Promise<RunResult & { readonly state: WorldState }> {
  const left = [...deviations]
  let told: Recorder | null = null
  const { world, recorder, steps, stop } = await walk({
    topology,
    keepStory,
    beat,
    begun: (world) => (told = world.recorder),
    choose: (step) => {
      if (told && told.events >= until) return 'stop'
      return left[0]?.step === step ? (left.shift() ?? null) : null
    },
  })
  const { length } = recorder.violations
  const [untaken] = left
  const other = untaken && length === 0 && recorder.events < until ? divergedAt(untaken, steps) : null
  const over = verdictOf(stop ?? other, true, length)
  return {
    seed: '0x0',
    scenario: topology.name,
    ...over,
    events: recorder.events,
    traceHash: recorder.digest(),
    simulatedMs: world.nowMs,
    plan: deviations.flatMap((deviation) => (deviation.what === 'fault' ? [deviation.fault] : [])),
    steps: topology.work.length,
    without: [],
    strikes: Object.fromEntries([...world.strikes].sort(([a], [b]) => (a < b ? -1 : 1))),
    behaviours: [],
    tallies: recorder.tallies,
    violations: recorder.violations,
    draws: null,
    story: recorder.story,
    state: await stateOf(world),
  }
}

function divergedAt({ step }: Deviation, steps: number): Stop {
  const error = new Diverged(
    `diverged: the schedule leaves the default at step ${step}, and there are only ${steps} here; the code or the topology is not that of the recording`,
  )
  return { kind: 'failure', error }
}
