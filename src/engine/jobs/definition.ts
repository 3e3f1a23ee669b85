import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type HoldfastError, InvalidConfig } from '../errors.ts'
import { type Names, requireFunction, requireKnown, requireObject, shown } from '../given.ts'
import type { Backoff } from './backoff.ts'
import type { AttemptContext } from './context.ts'
import { type JobSettings, type Priority, settingsOf } from './job-settings.ts'
import { requireName } from './text.ts'

/** What a job is. All durations in ms. */
export interface JobOptions<Input, Output> {
  /** The job's kind: 1 - 512 characters. An engine claims only kinds it has a handler for. */
  readonly name: string
  /** Any Standard Schema (zod, valibot, arktype). Checked at enqueue and again before the handler. */
  readonly input?: StandardSchemaV1<Input, Output>
  /** Version of the input's shape, stored with each job; default 1. */
  readonly inputVersion?: number
  /** Turns the stored input of an older version into one of this version, before it is validated. */
  readonly upgradeInput?: (input: unknown, fromVersion: number) => unknown
  /** Default `'default'`. */
  readonly queue?: string
  /** Default `'normal'`. */
  readonly priority?: Priority
  readonly retry?: RetryOptions
  /** How long the store believes in a silent worker; default 30,000. A job's own value holds from the claim on. */
  readonly leaseTtlMs?: number
  /** Bound of one attempt; default 300,000. It charges one failure. */
  readonly timeoutMs?: number
  /** How long an ended job is kept, its result and its log with it; default 7 days, from 0 on. */
  readonly keepMs?: number
  /**
   * What happens to a running handler when its lease can no longer be vouched for: `continue` (default)
   * lets it run, its writes stay fenced; `abort` fires its signal, for effects that must never overlap.
   */
  readonly onUncertainLease?: 'continue' | 'abort'
}

const jobOptions: Names<JobOptions<unknown, unknown> & { readonly run: unknown }> = {
  name: true,
  input: true,
  inputVersion: true,
  upgradeInput: true,
  queue: true,
  priority: true,
  retry: true,
  leaseTtlMs: true,
  timeoutMs: true,
  keepMs: true,
  onUncertainLease: true,
  run: true,
}

export interface RetryOptions {
  /** Executions that may fail before the job is dead-lettered; default 3. */
  readonly maxAttempts?: number
  /** Lost leases before the job is dead-lettered; default 3. */
  readonly maxEvictions?: number
  /** Default: exponential from 1 s to 60 s. */
  readonly backoff?: Backoff
}

export type Handler<Output, Result> = (context: AttemptContext<Output>) => Promise<Result> | Result

/** A job as enqueueing sees it. */
export interface JobDescription<Input = unknown, Result = unknown> {
  readonly name: string
  readonly settings: JobSettings
  readonly input: StandardSchemaV1 | undefined
  /** Only in the types: what `enqueue` takes. */
  readonly '~input'?: Input
  /** Only in the types: what its handler answers. */
  readonly '~result'?: Result
  readonly upgradeInput: ((input: unknown, fromVersion: number) => unknown) | undefined
}

/** A job without its handler: all that a producer needs. */
export interface JobDefinition<Input = unknown, Output = Input, Result = unknown>
  extends JobDescription<Input, Result> {
  /** Adds the handler, in a module that producers need not import. */
  handle<Answer>(run: Handler<Output, Answer>): HandledJob<Input, Output, Answer>
}

export interface HandledJob<Input = unknown, Output = Input, Result = unknown>
  extends JobDefinition<Input, Output, Result> {
  readonly run: Handler<Output, Result>
}

/** Any definition that comes with its handler: as a parameter. */
export interface AnyJob extends JobDescription {
  readonly run: Handler<never, unknown>
}

/** Defines a job; `run` may be given here or later with `.handle(run)`. Throws `InvalidConfig`. */
export function defineJob<Input, Output = Input, Result = unknown>(
  options: JobOptions<Input, Output> & { readonly run: Handler<Output, Result> },
): HandledJob<Input, Output, Result>
export function defineJob<Input, Output = Input>(
  options: JobOptions<Input, Output>,
): JobDefinition<Input, Output>
export function defineJob<Input, Output, Result>(
  options: JobOptions<Input, Output> & { readonly run?: Handler<Output, Result> },
): JobDefinition<Input, Output> {
  requireObject("defineJob's options", options, InvalidConfig)
  requireName('a job name', options.name, InvalidConfig)
  requireKnown(`job ${options.name}`, options, jobOptions, InvalidConfig)
  requireParts(options)
  const definition: JobDefinition<Input, Output, never> = {
    name: options.name,
    settings: settingsOf(options),
    input: options.input,
    upgradeInput: options.upgradeInput,
    handle: (run) => {
      requireFunction(`job ${definition.name}: run`, run, InvalidConfig)
      return { ...definition, run }
    },
  }
  return options.run === undefined ? definition : definition.handle(options.run)
}

/** What `defineJob` made, of this copy of the package or another. */
export function requireDefinition(
  what: string,
  value: unknown,
  Refused: new (message: string) => HoldfastError,
): asserts value is JobDescription {
  if (!isDefinition(value)) throw new Refused(`${what} made by defineJob, not ${shown(value)}`)
}

function isDefinition(value: unknown): boolean {
  try {
    const { name, settings } = value as JobDescription
    return typeof name === 'string' && Array.isArray(settings.backoffMs)
  } catch {
    return false
  }
}

export function isHandled(definition: JobDescription): definition is AnyJob {
  return 'run' in definition
}

/** Of what only its form matters here. */
interface Parts {
  readonly name: string
  readonly upgradeInput?: unknown
  readonly input?: { readonly '~standard'?: { readonly validate?: unknown } } | null | undefined
}

function requireParts({ name, upgradeInput, input }: Parts): void {
  if (upgradeInput !== undefined) requireFunction(`job ${name}: upgradeInput`, upgradeInput, InvalidConfig)
  if (input === undefined) return
  if (typeof input?.['~standard']?.validate === 'function') return
  throw new InvalidConfig(
    `job ${name}: input must be a Standard Schema, such as zod makes, not ${shown(input)}`,
  )
}
