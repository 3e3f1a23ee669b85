import type { Store } from '../../engine/ports/store.ts'
import type { Fixture } from './fixture.ts'

/** What an adapter brings: a name, and a store for each case. */
export interface ConformanceSetUp {
  readonly name: string
  /**
   * Opens a migrated store. It may be empty or shared with others: no case looks at rows it did not make.
   * No sweeper may run beside it, since a sweeper would take what a case is about to take.
   */
  readonly open: () => Promise<OpenStore>
}

export interface OpenStore {
  readonly store: Store
  /**
   * The hand on the database's clock, or null if that clock is real: then the cases about exact instants
   * are skipped, and the others wait for some real milliseconds.
   */
  readonly time: ControlledTime | null
  /**
   * Removes the lease rows of a claim, as a partial restore or a stray delete would. Without it the cases about
   * that are skipped.
   */
  readonly unlease?: (token: string) => Promise<void> | void
  readonly dispose: () => Promise<void> | void
}

export interface ControlledTime {
  /** Moves the database's clock by `ms`; a negative `ms` sets it back. */
  advance(ms: number): Promise<void> | void
}

/** The functions of a test runner that the suite needs: vitest's and node:test's fit. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly test: (name: string, run: (context: RunContext) => Promise<void>) => unknown
}

export interface RunContext {
  skip(reason: string): void
}

export type Need = 'clock' | 'content' | 'unlease' | 'commits'

/** One promise of the port. The numbers in its name are those of the requirements it stands for. */
export interface Case {
  readonly name: string
  /**
   * `clock`: it moves the database's clock. `content`: it reads the whole store with `dump`. `unlease`: it removes
   * lease rows behind the store's back. `commits`: it is about an ability that a store may lack.
   */
  readonly needs?: Need | readonly Need[]
  readonly run: (fixture: Fixture) => Promise<void>
}
