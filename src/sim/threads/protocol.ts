import type { Judged, RunRequest } from '../judge.ts'
import type { Ground } from '../stores/simulated.ts'

/** The store under all runs of a thread, by its name. */
export interface StoreChoice {
  readonly name: string
  readonly ground: Ground | null
}

/** What a thread is started with. */
export interface ThreadData {
  /** A user's module with scenarios, or null for ours. */
  readonly url: string | null
  /** The store to open before the first run; without it each run opens its own. */
  readonly store?: StoreChoice
  /** One counter that rises while the thread is alive. */
  readonly heartbeat: SharedArrayBuffer
}

export type ToThread = { readonly index: number; readonly request: RunRequest }
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'result'; readonly index: number; readonly result: Judged }
