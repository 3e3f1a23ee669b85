import type { JobError } from './jobs/record.ts'

/** Every error that leaves Holdfast: `code` is stable, the message says what was wrong and what to do. */
export abstract class HoldfastError extends Error {
  abstract readonly code: string
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The store did not answer. `sent` says whether the call may have taken effect. */
export class StoreUnavailable extends HoldfastError {
  readonly code = 'STORE_UNAVAILABLE'
  readonly sent: 'no' | 'maybe'
  constructor(message: string, sent: 'no' | 'maybe', options?: ErrorOptions) {
    super(message, options)
    this.sent = sent
  }
}

/** A caller passed something that can never work. Nothing was changed. */
export class InvalidArgument extends HoldfastError {
  readonly code: string = 'INVALID_ARGUMENT'
}

/** A definition, an option or a combination of intervals that would break a promise. */
export class InvalidConfig extends HoldfastError {
  readonly code = 'INVALID_CONFIG'
}

/** The id belongs to a job of another kind or with another input. Nothing was inserted. */
export class IdConflict extends HoldfastError {
  readonly code = 'ID_CONFLICT'
  readonly ids: readonly string[]
  constructor(ids: readonly string[]) {
    super(
      `already taken by a job of another kind or input: ${ids.join(', ')}; choose another id or enqueue the same input`,
    )
    this.ids = ids
  }
}

/** The input does not pass its schema. At enqueue nothing was stored; in a worker the job fails for good. */
export class InputInvalid extends InvalidArgument {
  override readonly code = 'INPUT_INVALID'
}

/**
 * The payload codec threw, or answered what is no text or no JSON. At enqueue nothing was stored; in a worker the
 * attempt fails like any other. The message names the payload and shows nothing of it; `cause` is what was thrown.
 */
export class CodecFailed extends HoldfastError {
  readonly code = 'CODEC_FAILED'
}

/** Throw it from a handler to skip the remaining attempts. */
export class PermanentFailure extends HoldfastError {
  readonly code = 'PERMANENT_FAILURE'
}

/** A handler's value cannot be stored as JSON. The job fails for good. */
export class ResultInvalid extends HoldfastError {
  readonly code = 'RESULT_INVALID'
}

/** Reason of an attempt's signal: it ran longer than `timeoutMs`. */
export class AttemptTimeout extends HoldfastError {
  readonly code = 'TIMEOUT'
}

/** Reason of an attempt's signal: another worker may run the job now; whatever this one does is discarded. */
export class LeaseLost extends HoldfastError {
  readonly code = 'LEASE_LOST'
}

/**
 * The transaction of `commit` was not committed, because of the store and not of the handler: nothing of it is kept,
 * the attempt has ended, and the job runs again, uncharged.
 */
export class CommitFailed extends HoldfastError {
  readonly code = 'COMMIT_FAILED'
}

/** Reason of an attempt's signal under `onUncertainLease: 'abort'`. */
export class LeaseUncertain extends HoldfastError {
  readonly code = 'LEASE_UNCERTAIN'
}

/** An operator asked for the job's end: the reason of an attempt's signal, and why a job has no result. */
export class JobCancelled extends HoldfastError {
  readonly code = 'CANCELLED'
}

/** The job whose result was waited for has failed for good. */
export class JobFailed extends HoldfastError {
  readonly code = 'JOB_FAILED'
  /** Why: its `code` is that of what the handler threw, or of what the engine found. */
  readonly error: JobError
  constructor(id: string, error: JobError) {
    super(`job ${id} has failed: ${error.code}: ${error.message}`)
    this.error = error
  }
}

/** There is no such job: it was never enqueued, its transaction is not committed yet, or it was kept long enough. */
export class JobMissing extends HoldfastError {
  readonly code = 'JOB_MISSING'
}

/** The job had not ended when the time was up. It goes on; its result can be waited for again. */
export class ResultTimeout extends HoldfastError {
  readonly code = 'RESULT_TIMEOUT'
}

/** Reason of the signal of exclusive work: its named lease could not be kept, and somebody else may hold it. */
export class NamedLeaseLost extends HoldfastError {
  readonly code = 'NAMED_LEASE_LOST'
}

/** A schedule that can never fire, or says what nobody understands. Nothing was changed. */
export class ScheduleInvalid extends InvalidArgument {
  override readonly code = 'SCHEDULE_INVALID'
}

/** The job is in another state or at another version than the command is for, or the schedule is not there. Nothing was changed. */
export class CommandRefused extends HoldfastError {
  readonly code = 'COMMAND_REFUSED'
}

/** Reason of an attempt's signal: the engine stops; the job goes back to the queue uncharged. */
export class EngineStopping extends HoldfastError {
  readonly code = 'ENGINE_STOPPING'
}
