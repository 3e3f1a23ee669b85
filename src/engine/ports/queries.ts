import type { JobRecord, JobState } from '../jobs/record.ts'

/** What people and programs ask about many jobs at once. Nothing here changes anything. */
export interface QueryStore {
  /**
   * One page of the jobs that all of the filters let through, by insertion sequence, the newest first. Pages that are
   * read one after the other hold each job that was there all the time exactly once, whatever is inserted, ends or
   * goes meanwhile. Throws `InvalidArgument` for a cursor that no page has answered.
   */
  readonly list: (params: ListParams) => Promise<ListReply>
  /**
   * How many jobs each queue has, by what they wait for, in UTF-8 order of queues; one of which there is nothing to
   * count is left out. Its cost does not grow with the jobs that are over.
   */
  readonly counts: () => Promise<readonly QueueCounts[]>
}

/** A filter that is left out lets everything through; a list that is empty, nothing. */
export interface ListParams {
  /** How many at most; brought into 1 to `listLimitMax`. */
  readonly limit: number
  /** Where the page before ended, as it said; null: from the newest on. */
  readonly cursor: string | null
  readonly states?: readonly JobState[]
  readonly kinds?: readonly string[]
  readonly queues?: readonly string[]
  /** Null: only jobs of nobody. Else the key `tenant=NAME` must be among those of a job, too. */
  readonly tenant?: string | null
  /** As `JobSpec.keys` has them. All must be among those of a job; none asks for nothing. */
  readonly keys?: readonly string[]
  readonly createdFromMs?: number
  /** Exclusive. */
  readonly createdToMs?: number
  /** Whether it is a dead letter that waits for somebody. */
  readonly dead?: boolean
  /** Without them `input` is the empty text, and `result` null: a table of jobs need not read what they carry. */
  readonly payloads: boolean
}
export const listLimitMax = 10_000

export interface ListReply {
  readonly jobs: readonly JobRecord[]
  /** The cursor of the next page; null: this was the last. Opaque text. */
  readonly next: string | null
}

export interface QueueCounts {
  readonly queue: string
  /** To be claimed now, if the queue is not paused. */
  readonly due: number
  /** Queued for later. */
  readonly delayed: number
  /** Created without a place in the queue, until the sweep gives them one. */
  readonly undispatched: number
  readonly running: number
  /** Dead letters that wait for somebody. */
  readonly dead: number
}
