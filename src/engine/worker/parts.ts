import type { Clock } from '../ports/clock.ts'
import type { EngineEvent } from '../history.ts'
import type { Payloads } from '../jobs/payloads.ts'
import type { Measure } from '../metrics.ts'
import type { Executor } from '../ports/executor.ts'
import type { Random } from '../ports/random.ts'
import type { Store } from '../ports/store.ts'
import type { AnyJob } from '../jobs/definition.ts'
import type { Intervals } from '../settings.ts'
import type { Middleware } from './middleware.ts'

/** What the loops of one running engine share. */
export interface WorkerParts {
  /** This process incarnation; never a host name. */
  readonly worker: string
  /** The one job that is claimed; undefined: any. */
  readonly only?: string | undefined
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly executor: Executor
  readonly intervals: Intervals
  readonly middleware: readonly Middleware[]
  readonly payloads: Payloads
  readonly handlers: ReadonlyMap<string, AnyJob>
  readonly emit: (event: EngineEvent) => void
  readonly measure: Measure
  /** Awaits a store call, noting for health (and telling the observer) whether the store answered. */
  readonly ask: <T>(call: string, answer: Promise<T>) => Promise<T>
  /** Tells retention of a job that is kept for so long once it has ended. */
  readonly keeps: (keepMs: number) => void
}
