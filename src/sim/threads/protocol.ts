import type { RunRequest } from '../judge.ts'
import type { RunResult } from '../run.ts'

/** What a thread is started with. */
export interface ThreadData {
  /** A user's module with scenarios, or null for ours. */
  readonly url: string | null
  /** One counter that rises while the thread is alive. */
  readonly heartbeat: SharedArrayBuffer
}

export type ToThread = { readonly index: number; readonly request: RunRequest }
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'result'; readonly index: number; readonly result: RunResult }
