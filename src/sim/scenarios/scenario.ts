import type { JobDescription } from '../../engine/jobs/definition.ts'
import type { EnqueueOptions } from '../../engine/jobs/enqueue.ts'
import type { RetentionOptions } from '../../engine/retention/options.ts'
import type { Intervals } from '../../engine/settings.ts'
import type { ScheduleStep } from '../schedules.ts'
import type { Duty } from '../duty.ts'
import type { Property } from '../../properties/property.ts'
import type { FamilyName } from '../faults/fault.ts'
import type { Rolling } from '../releases.ts'
import type { AnyPorts } from '../services/port.ts'
import type { Service } from '../services/service.ts'

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
  /** Default: its engines remove nothing. */
  readonly retention?: RetentionOptions
  /** The work of one run; `draw` answers a number in [0, bound) of its own for each name. */
  workload(draw: (bound: number, what: string, k: number) => number): readonly WorkStep[]
  /** Its schedules, and what is done with them; without any its workers fire none. */
  readonly schedules?: readonly ScheduleStep[]
  /** Its processes are of this release or of a newer one, as each start draws. Default: all of this one. */
  readonly rolling?: Rolling
  /** Work beside jobs that its workers do, one at a time. */
  readonly duties?: readonly Duty[]
  /** Its handlers commit: then faults strike that call too. Default false. */
  readonly commits?: boolean
  /** Its handlers say what they do, and its producers wait for results: then faults strike those calls too. Default false. */
  readonly talks?: boolean
  readonly families: readonly FamilyName[]
  /** An operator lists and counts jobs so often, and at the end, in ms. Default: never. */
  readonly looksEveryMs?: number
  /** How many times as many faults as their families say; default 1. */
  readonly density?: number
  /** What the k-th worker can do, counted from 0; default: all jobs, and all their queues. */
  readonly ability?: (k: number) => {
    readonly jobs: readonly JobDescription[]
    readonly queues: readonly string[]
  }
  /** What is judged beside the promises of the engine. */
  readonly properties?: readonly Property[]
  /** Fakes of systems that its handlers call. */
  readonly services?: readonly Service[]
  /** Makes the jobs of one process, with handlers that call the services; default: `jobs`, for all. */
  readonly jobsOf?: (ports: AnyPorts) => readonly JobDescription[]
  /** `virtual`: `Date.now`, `new Date` and `Math.random` answer from the world; `refuse`, the default: they are leaks. */
  readonly ambient?: 'refuse' | 'virtual'
  /** Draws which families are on from the seed; false: all of them, always. */
  readonly swarm: boolean
}

export interface WorkStep {
  readonly atMs: number
  readonly job: JobDescription
  readonly input: unknown
  readonly options: EnqueueOptions & { readonly id: string }
  /** It is sent under the id of another step, on purpose. */
  readonly again?: boolean
  /** What is enqueued along with it: all or none. */
  readonly also?: readonly WorkItem[]
  /** Its producer waits for its result, for so long. */
  readonly awaitedMs?: number
  /** Its producer dies between creating it and giving it a place in the queue. */
  readonly undispatched?: boolean
}

export type WorkItem = Pick<WorkStep, 'job' | 'input' | 'options'>
