export type { Engine, EngineOptions, Health, StopOptions } from './engine/api.ts'
export type { DeadLetterOptions, DeadLetters } from './engine/dead-letters/dead-letters.ts'
export type { ReplayAllOptions, ReplayedAll } from './engine/dead-letters/replay-all.ts'
export { createEngine } from './engine/engine.ts'
export {
  AttemptTimeout,
  CodecFailed,
  CommitFailed,
  CommandRefused,
  EngineStopping,
  HoldfastError,
  IdConflict,
  InputInvalid,
  InvalidArgument,
  InvalidConfig,
  JobCancelled,
  JobFailed,
  JobMissing,
  LeaseLost,
  LeaseUncertain,
  NamedLeaseLost,
  PermanentFailure,
  ResultInvalid,
  ScheduleInvalid,
  ResultTimeout,
  StoreUnavailable,
} from './engine/errors.ts'
export type { EngineEvent } from './engine/history.ts'
export type { Metric } from './engine/metrics.ts'
export type { Backoff } from './engine/jobs/backoff.ts'
export type { AttemptContext, AttemptInfo, Commit, Log, LogAt, Queryable } from './engine/jobs/context.ts'
export {
  type HandledJob,
  type Handler,
  type JobDefinition,
  type JobOptions,
  type RetryOptions,
  defineJob,
} from './engine/jobs/definition.ts'
export type { JobSettings, Priority } from './engine/jobs/job-settings.ts'
export type { LookupKeys } from './engine/jobs/keys.ts'
export type { Exclusive } from './engine/leases/exclusive.ts'
export type { Leadership } from './engine/leases/leaders.ts'
export type { Logs } from './engine/logs/reader.ts'
export type { CommandOptions, Operations } from './engine/operations.ts'
export type { CatchUp } from './engine/schedules/catch-up.ts'
export type { Schedule, ScheduleOptions, SchedulePage, Schedules } from './engine/schedules/schedules.ts'
export type { StoredTrigger, Trigger } from './engine/schedules/trigger.ts'
export type { Middleware } from './engine/worker/middleware.ts'
export type { EnqueueOptions, EnqueueRequest, InTransaction } from './engine/jobs/enqueue.ts'
export type { Enqueued } from './engine/jobs/insert.ts'
export type { JobMoment } from './engine/jobs/events.ts'
export type {
  JobPage,
  JobSummary,
  Listed,
  ListOptions,
  Queries,
  WithPayloads,
} from './engine/jobs/queries.ts'
export type { JobError, JobEvent, JobRecord, JobSpec, JobState, Lineage } from './engine/jobs/record.ts'
export type { DeadLetterPage } from './engine/ports/dead-letters.ts'
export type { Codec } from './engine/ports/codec.ts'
export type { Clock, Timer } from './engine/ports/clock.ts'
export type { Executor } from './engine/ports/executor.ts'
export type { LogLevel, LogLine, LogPage } from './engine/ports/logs.ts'
export type { Observer } from './engine/ports/observer.ts'
export type { Random, RandomStream } from './engine/ports/random.ts'
export type { RetentionOptions } from './engine/retention/options.ts'
export type { Migrated, Store } from './engine/ports/store.ts'
export type { QueueCounts } from './engine/ports/queries.ts'
export type { EnqueuedJob } from './engine/results/enqueued.ts'
export type { ResultOptions } from './engine/results/results.ts'
export type { Intervals } from './engine/settings.ts'
