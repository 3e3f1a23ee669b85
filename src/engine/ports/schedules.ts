import type { NewJob } from './store.ts'

/**
 * Schedules: rows that say when which job is to be made next. Nobody is appointed to fire them: a firing is a
 * compare-and-set on the row, so that of all who try one does.
 *
 * The version of a row is the name of the call that wrote it last. So none ever comes back, not even where a schedule
 * is removed and made anew, and a repeat of a call knows its own work.
 */
export interface ScheduleStore {
  /**
   * Makes the schedule where `version` is null and there is none, or changes what it says where it is at `version`;
   * it stays paused if it was, and `lastAtMs` stays. One that says the same already is left as it is.
   */
  readonly put: (params: PutSchedule) => Promise<PutScheduleReply>
  readonly remove: (params: { readonly key: string }) => Promise<{ readonly removed: boolean }>
  readonly get: (params: { readonly key: string }) => Promise<ScheduleRow | null>
  /** In the order of the UTF-8 bytes of their keys. `after`: from behind this key on. `limit` <= 0: none. */
  readonly list: (params: { readonly limit: number; readonly after: string | null }) => Promise<{
    readonly schedules: readonly ScheduleRow[]
  }>
  /** Pauses it or lets it go on, iff it is at `version`. `nextAtMs`: in place of what it had. */
  readonly pause: (params: PauseSchedule) => Promise<{ readonly applied: boolean }>
  /** What is due and not paused, the longest due first, then by key; and what of time there is until the next. */
  readonly due: (params: { readonly limit: number }) => Promise<DueSchedules>
  /**
   * Makes the jobs of these slots and sets when the next one is due, all or nothing, iff the schedule is at
   * `version`, not paused, and each slot has come by the database's time. A job whose id is taken is there already.
   */
  readonly fire: (params: FireSchedule) => Promise<FireReply>
}

export interface ScheduleRow {
  readonly key: string
  readonly version: string
  /** JSON text, as it was put. */
  readonly spec: string
  readonly paused: boolean
  /** Null: never again. */
  readonly nextAtMs: number | null
  /** The latest slot that a job was made for. */
  readonly lastAtMs: number | null
  readonly madeAtMs: number
}

interface WriteSchedule {
  readonly key: string
  /** The version that is wanted. */
  readonly version: string
  /** Names this call, unlike any other; the version after it. */
  readonly command: string
}

export interface PutSchedule extends Omit<WriteSchedule, 'version'> {
  readonly version: string | null
  readonly spec: string
  readonly nextAtMs: number | null
}
/** `refused`: it is at another version, or there is none, or one where none was to be. */
export interface PutScheduleReply {
  readonly kind: 'put' | 'same' | 'refused'
}

export interface PauseSchedule extends WriteSchedule {
  readonly paused: boolean
  readonly nextAtMs?: number | null
}

export interface DueSchedules {
  readonly nowMs: number
  readonly schedules: readonly ScheduleRow[]
  /** Until the next one that is not due yet; null if there is none. */
  readonly nextInMs: number | null
}

export interface FireSchedule extends WriteSchedule {
  readonly slots: readonly Slot[]
  readonly nextAtMs: number | null
}
export interface Slot {
  readonly atMs: number
  readonly job: NewJob
}
export type FireReply =
  /** `created`: the ids that were not there before. */
  | { readonly kind: 'fired'; readonly created: readonly string[] }
  /**
   * `stands`: an earlier send of this call fired it. `lost`: somebody else has moved on, or it is paused, or gone.
   * `early`: a slot has not come yet, by the database's time.
   */
  | { readonly kind: 'stands' | 'lost' | 'early' }
