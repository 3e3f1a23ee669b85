import type { StoreFactory } from '../run.ts'

/** A store for one run after another, all in one thread; what is expensive to make is made once. */
export interface SimulatedStore {
  readonly open: StoreFactory
  close(): Promise<void>
}

/** Where on a server a thread has its tables; stores without a server need none. */
export interface Ground {
  readonly databaseUrl: string
  /** Of this thread alone: made when the store is opened, and dropped with the place that gave the name. */
  readonly schema: string
}

export type OpenSimulated = (ground: Ground | null) => Promise<SimulatedStore>

/** What all threads of a command have in common on a server. */
export interface Place {
  groundOf(thread: number): Ground | null
  drop(): Promise<void>
}
