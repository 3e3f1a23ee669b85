import type { JobRecord, JobState } from '../jobs/record.ts'

/**
 * Jobs that failed for good, until somebody retries, replays or discards them. A dead letter is the row of the job
 * itself, made one in the write that fails it: there is none without a failed job, and no such failure without one.
 */
export interface DeadLetterStore {
  /** Whole jobs, those that died first first, then by insertion; none for a `limit` <= 0, and 1,000 at the most. */
  readonly list: (params: DeadLetterQuery) => Promise<DeadLetterPage>
  /**
   * Inserts a new job for each dead letter, and marks that as replayed. Each entry applies on its own; all that apply
   * are one atomic write. The new job states all that the failed one stated, as it is stored, and begins from the
   * start: due now, its counters at zero. `command` names this call, as `insertId` does. Answers in the order given;
   * rows are locked in one order. Throws `InvalidArgument` for over 1,000 entries, and where an id is named twice.
   */
  readonly replay: (params: ReplayParams) => Promise<ReplayReply>
  /** Nobody is to replay them: they are dead letters no more, and stay failed. At most 1,000. */
  readonly discard: (params: { readonly ids: readonly string[] }) => Promise<DiscardReply>
}

export interface DeadLetterQuery {
  readonly limit: number
  /** The `next` of the page before; null begins. Throws `InvalidArgument` for what no store has answered. */
  readonly cursor: string | null
  readonly kinds?: readonly string[]
  readonly queues?: readonly string[]
  /** Only what died before this instant of the database. */
  readonly beforeMs?: number
}
export interface DeadLetterPage {
  readonly jobs: readonly JobRecord[]
  /** The cursor of the next page, whatever becomes of this one; null: this was the last. Opaque text. */
  readonly next: string | null
}

export interface ReplayParams {
  readonly command: string
  /** Only what died before this instant of the database: a request that lands late replays no later death. */
  readonly beforeMs?: number
  readonly replays: readonly {
    readonly id: string
    /** Id of the new job. */
    readonly as: string
  }[]
}
export interface ReplayReply {
  readonly results: readonly Replayed[]
}
export type Replayed =
  /** By this call, or by an earlier send of it. */
  | { readonly kind: 'replayed'; readonly as: string }
  /** By another, and as what. */
  | { readonly kind: 'already'; readonly as: string }
  /** It is no dead letter, or was discarded. */
  | { readonly kind: 'refused'; readonly state: JobState }
  /** It died at `beforeMs` or later, and stays a dead letter. */
  | { readonly kind: 'later' }
  /** `as` is the id of another job. Nothing was changed. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'missing' }

export interface DiscardReply {
  readonly results: readonly Discarded[]
}
export type Discarded =
  /** Now or before. */
  | { readonly kind: 'discarded' }
  /** It did not fail for good, or was replayed. */
  | { readonly kind: 'refused'; readonly state: JobState; readonly replayedAs: string | null }
  | { readonly kind: 'missing' }

/** So many entries are taken in one call. */
export const replaysMax = 1_000
