import type { JobDescription } from '../../engine/jobs/definition.ts'
import type { EnqueueOptions } from '../../engine/jobs/enqueue.ts'
import type { Intervals } from '../../engine/settings.ts'
import type { Property } from '../../properties/property.ts'
import type { FamilyName } from '../faults/fault.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import type { Ports, Service } from '../services/service.ts'

/** A user's own jobs, work and properties under simulation. */
export interface BenchOptions<S extends readonly Service[]> {
  /** Names it in reports and on the command line: 1 - 512 characters. */
  readonly name: string
  /** What it is, in a few words. */
  readonly says?: string
  /** Where its module is, `import.meta.url`, if the bench is a default export of it: then threads and the command can run it. */
  readonly module?: string
  /**
   * The definitions, with their handlers. As a function it is called for every simulated process, so what it keeps dies
   * with that process; it gets the ports of `services`. It must name the same jobs each time.
   */
  readonly jobs: readonly JobDescription[] | ((services: Ports<S>) => readonly JobDescription[])
  /** Enqueues the work of one run; its only chance is `draw`. */
  readonly workload: (work: Work) => void
  /** What must hold, beside all that the engine promises. */
  readonly properties?: readonly Property[]
  /** Fakes of the systems that the handlers call: see `service`. */
  readonly services?: S
  readonly faults?: FaultChoice
  /** `virtual`: `Date.now`, `new Date` and `Math.random` answer from the world; `refuse`, the default: they are leaks. */
  readonly ambient?: 'refuse' | 'virtual'
  /** Worker processes; default 3. */
  readonly workers?: number
  /** Jobs at once, for each queue and worker; default 5. */
  readonly concurrency?: number
  /** How long work arrives and faults strike, in ms of simulated time; default 300,000. */
  readonly activeMs?: number
  /** Of the engine, in ms. */
  readonly intervals?: Partial<Intervals>
}

export interface FaultChoice {
  /** Default: all that fit, which are those under which the handlers run as they are. */
  readonly families?: readonly FamilyName[]
  /** How many times as many faults as stock, over 0 and up to 100; default 1. */
  readonly density?: number
  /** Each seed turns most of the families off, so that the others are seen alone; false: all are on, always. Default true. */
  readonly swarm?: boolean
}

/** What a workload works with. */
export interface Work {
  /** As `BenchOptions.activeMs`. */
  readonly activeMs: number
  /** A whole number in [0, bound), which follows from the seed and from what it is for: `what`, and the k-th of those. */
  readonly draw: (bound: number, what: string, k?: number) => number
  /** A producer sends it at `atMs` (default 0), again and again until it has an answer; hence the id. */
  readonly enqueue: <Input>(job: JobDescription<Input>, input: Input, options: WorkOptions) => void
}

export interface WorkOptions extends EnqueueOptions {
  readonly id: string
  /** In ms since the start of the run. */
  readonly atMs?: number
}

/** What `bench` makes: hand it to `simulate`, `replay` and `toHoldFor`, or export it for `holdfast simulate FILE`. */
export interface Bench extends Scenario {
  readonly module: string | null
}
