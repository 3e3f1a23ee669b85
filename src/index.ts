export {
  type Engine,
  type EngineOptions,
  type Health,
  type StopOptions,
  createEngine,
} from './engine/engine.ts'
export {
  AttemptTimeout,
  EngineStopping,
  HoldfastError,
  IdConflict,
  InputInvalid,
  InvalidArgument,
  InvalidConfig,
  LeaseLost,
  LeaseUncertain,
  PermanentFailure,
  ResultInvalid,
  StoreUnavailable,
} from './engine/errors.ts'
export type { EngineEvent } from './engine/history.ts'
export type { Backoff } from './engine/jobs/backoff.ts'
export type { AttemptContext, AttemptInfo } from './engine/jobs/context.ts'
export {
  type HandledJob,
  type Handler,
  type JobDefinition,
  type JobOptions,
  type JobSettings,
  type Priority,
  type RetryOptions,
  defineJob,
} from './engine/jobs/definition.ts'
export type { EnqueueOptions, EnqueueRequest, Enqueued } from './engine/jobs/enqueue.ts'
export type { JobError, JobRecord, JobSpec, JobState } from './engine/jobs/record.ts'
export type { Clock, Timer } from './engine/ports/clock.ts'
export type { Executor } from './engine/ports/executor.ts'
export type { Observer } from './engine/ports/observer.ts'
export type { Random, RandomStream } from './engine/ports/random.ts'
export type { Store } from './engine/ports/store.ts'
export type { Intervals } from './engine/settings.ts'
