import type { JobDescription } from '../../engine/jobs/definition.ts'
import type { Intervals } from '../../engine/settings.ts'
import type { Property } from '../../properties/property.ts'
import type { ScheduleStep } from '../schedules.ts'
import type { Duty } from '../duty.ts'
import type { FamilyName, Fault } from '../faults/fault.ts'
import type { WorkStep } from '../scenarios/scenario.ts'

/** A small system whose schedules are all explored: few machines, few jobs, a horizon. Nothing in it is drawn. */
export interface Topology {
  readonly name: string
  readonly says: string
  /** Processes that work and sweep. */
  readonly workers: number
  /** Processes that only sweep. */
  readonly sweepers: number
  readonly concurrency: number
  readonly intervals: Partial<Intervals>
  /** Their handlers do nothing but sleep: what they are at is the timers they wait for. */
  readonly jobs: readonly JobDescription[]
  readonly work: readonly WorkStep[]
  /** Its schedules, and what is done with them; without any its processes fire none. */
  readonly schedules?: readonly ScheduleStep[]
  /** What each process that works or sweeps does beside jobs. A process with a post never rests. */
  readonly duties?: readonly Duty[]
  /** What an operator does of himself, in the default schedule. */
  readonly orders?: readonly TimedOrder[]
  readonly horizonMs: number
  readonly faults: readonly FaultOption[]
  readonly properties: readonly Property[]
  /** How many deviations it is to be explored to. */
  readonly deviations: number
  /** To how many where there is a minute for it; default: the same. */
  readonly quick?: number
}

/** Of a job, or of all claiming. */
export interface Order {
  readonly command: 'cancel' | 'retry' | 'replay' | 'discard' | 'hold' | 'resume'
  /** The id of one in `work`, or of a replay of it, as `j1~r1`. */
  readonly job?: string
  /** The process whose engine is told, as `w1`; default the producer's. */
  readonly through?: string
}

export interface TimedOrder extends Order {
  readonly atMs: number
}

/** One way in which a schedule may deviate, with how long it lasts. */
export interface FaultOption {
  readonly family: ExploredFamily
  /** Of a message, how much later it comes; else how long it lasts. */
  readonly forMs?: number
  /** Of a restart: whether the work in flight takes effect. */
  readonly lands?: boolean
  /** Only these processes; default: all that work or sweep. */
  readonly nodes?: readonly string[]
  /** Only messages of these calls. */
  readonly calls?: readonly string[]
  /** What an operator does. */
  readonly order?: Order
}

export type ExploredFamily = Extract<
  FamilyName,
  | 'lost-request'
  | 'lost-reply'
  | 'late-request'
  | 'slow-reply'
  | 'pause'
  | 'crash'
  | 'shutdown'
  | 'database-restart'
  | 'outage-long'
  | 'operator'
>

/** Where a schedule leaves the default: before its `step`-th event. */
export type Deviation =
  /** Another event of the same instant goes first. */
  | { readonly step: number; readonly what: 'swap'; readonly nth: number }
  | { readonly step: number; readonly what: 'fault'; readonly fault: Fault; readonly order: Order | null }

/** In place of what the topology says. */
export interface Size {
  readonly workers?: number
  readonly jobs?: number
}

/** The same with other numbers: further jobs are like its last. */
export function sized(
  topology: Topology,
  { workers = topology.workers, jobs = topology.work.length }: Size,
): Topology {
  const last = topology.work.at(-1)
  if (!last) return { ...topology, workers }
  const more = Array.from({ length: Math.max(0, jobs - topology.work.length) }, (_, k) => ({
    ...last,
    options: { ...last.options, id: `${last.options.id}+${k + 1}` },
  }))
  return { ...topology, workers, work: [...topology.work.slice(0, jobs), ...more] }
}
