import type { JobDescription } from '../../engine/jobs/definition.ts'
import type { EnqueueOptions } from '../../engine/jobs/enqueue.ts'
import type { Intervals } from '../../engine/settings.ts'
import type { Duty } from '../duty.ts'
import type { FamilyName } from '../faults/fault.ts'

/** What is simulated: machines, work, and what may go wrong. */
export interface Scenario {
  readonly name: string
  readonly says: string
  readonly workers: number
  readonly concurrency: number
  /** How long work arrives and faults strike, in ms. */
  readonly activeMs: number
  readonly jobs: readonly JobDescription[]
  readonly intervals?: Partial<Intervals>
  /** The work of one run; `draw` answers a number in [0, bound) of its own for each name. */
  workload(draw: (bound: number, what: string, k: number) => number): readonly WorkStep[]
  /** Work beside jobs that its workers do, one at a time. */
  readonly duties?: readonly Duty[]
  readonly families: readonly FamilyName[]
  /** Draws which families are on from the seed; false: all of them, always. */
  readonly swarm: boolean
}

export interface WorkStep {
  readonly atMs: number
  readonly job: JobDescription
  readonly input: unknown
  readonly options: EnqueueOptions & { readonly id: string }
}
