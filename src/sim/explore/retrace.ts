import { Diverged } from '../chooser.ts'
import type { Stop } from '../driver.ts'
import { type WorldState, stateOf } from '../state-of.ts'
import { type RunResult, verdictOf } from '../run.ts'
import type { World } from '../world.ts'
import { type Taken, pendingOf } from './taken.ts'
import type { Deviation, Topology } from './topology.ts'
import { walk } from './walk.ts'

export interface RetraceOptions {
  readonly keepStory?: boolean
  readonly beat?: () => void
  /** Stop after so many events; default: at the end. */
  readonly until?: number
}

export interface Retraced extends RunResult {
  /** How everything stands in the end. */
  readonly state: WorldState
  /** The deviations, with what they met. */
  readonly taken: readonly Taken[]
}

/**
 * One schedule of a topology again, by its deviations: what a run of a seed tells, for the same reports. It diverges
 * where a deviation cannot be taken: the code is not that which the schedule was found with.
 */
export async function retrace(
  topology: Topology,
  deviations: readonly Deviation[],
  { keepStory = false, beat = () => {}, until = Number.POSITIVE_INFINITY }: RetraceOptions = {},
): Promise<Retraced> {
  const left = [...deviations]
  const taken: Taken[] = []
  let now: World | null = null
  let swapping = false
  const { world, recorder, steps, stop } = await walk({
    topology,
    keepStory,
    beat,
    begun: (begun) => (now = begun),
    choose: (step) => {
      if (now && now.recorder.events >= until) return 'stop'
      if (left[0]?.step !== step) return null
      const deviation = left.shift() ?? null
      const next = now?.next()
      if (deviation && now && next) {
        const atMs = Math.max(now.nowMs, next.atMs)
        taken.push({ deviation, atMs, next: pendingOf(next), first: null })
        swapping = deviation.what === 'swap'
      }
      return deviation
    },
    fired: (event) => {
      const last = taken.at(-1)
      if (swapping && last && event) taken[taken.length - 1] = { ...last, first: pendingOf(event) }
      swapping = false
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
    taken,
  }
}

function divergedAt({ step }: Deviation, steps: number): Stop {
  const error = new Diverged(
    `diverged: the schedule leaves the default at step ${step}, and there are only ${steps} here; the code or the topology is not that of the recording`,
  )
  return { kind: 'failure', error }
}
