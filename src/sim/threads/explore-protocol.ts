import type { Found } from '../explore/lane.ts'
import type { Shared } from '../explore/shared.ts'
import type { Size } from '../explore/topology.ts'

/** What a thread of an exploration is started with. */
export interface ExploreThreadData {
  /** A user's module with topologies, or null for ours. */
  readonly url: string | null
  readonly topology: string
  readonly size: Size
  readonly shared: Shared
  readonly lane: number
  readonly lanes: number
  readonly most: number
  /** One counter that rises while the thread is alive. */
  readonly heartbeat: SharedArrayBuffer
}

export interface ToExploreThread {
  readonly level: number
}

export type FromExploreThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'walked'; readonly found: Found | null }
  /** It cannot go on: too much to explore, no such topology, or our own code broke. */
  | { readonly kind: 'failed'; readonly message: string }
