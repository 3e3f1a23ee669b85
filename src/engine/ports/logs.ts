import type { JobState } from '../jobs/record.ts'
import type { Fenced, JobEpoch } from './store.ts'

/** What handlers say while they run: a bounded log a job, over all its attempts, kept as long as the job is. */
export interface LogStore {
  /**
   * Appends lines. Fenced: applies iff the job is running at the epoch. What a line is, (epoch, line) says: those at or
   * below the highest `line` that was taken of this epoch are skipped, so that a repeat appends nothing twice, nor what
   * was dropped meanwhile. Each gets the next absolute sequence `n`, from 0 on, and the database's time; of a job the last
   * `logLinesMax` are kept. Throws `InvalidArgument` for what `requireLines` refuses.
   */
  readonly append: (params: LogAppend) => Promise<Fenced>
  /** Up to `limit` lines from the sequence `from` on, or from the first that is kept, if that is later. One snapshot. */
  readonly page: (params: {
    readonly id: string
    readonly from: number
    readonly limit: number
  }) => Promise<LogPage>
  /** The last `limit` lines, in their order. One snapshot. */
  readonly tail: (params: { readonly id: string; readonly limit: number }) => Promise<LogPage>
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogAppend extends JobEpoch {
  /** 1 to `logBatchMax`, `line` rising. */
  readonly lines: readonly LogEntry[]
}
export interface LogEntry {
  /** Counts the lines of the attempt, from 0 on. */
  readonly line: number
  readonly level: LogLevel
  /** At most `logLineBytesMax` bytes of UTF-8, well-formed, without NUL. */
  readonly text: string
}

export interface LogLine {
  /** Absolute sequence within the job, from 0 on: it never changes. */
  readonly n: number
  /** When the store took it: database time. */
  readonly atMs: number
  /** Of the attempt that said it. */
  readonly epoch: number
  readonly level: LogLevel
  readonly text: string
}

export interface LogPage {
  readonly lines: readonly LogLine[]
  /** How many there have been: the sequence of the next line that will be appended. */
  readonly total: number
  /** How many of them are not kept any more: the sequence of the first that is. */
  readonly dropped: number
  /** Of the job, in the same snapshot: of one that has ended, nothing is appended. Null: there is no such job. */
  readonly state: JobState | null
}

/** So many lines of a job are kept, the last ones. */
export const logLinesMax = 2_000
export const logLineBytesMax = 4_096
/** Of one append. */
export const logBatchMax = 1_000
