import { HoldfastError, InputInvalid, PermanentFailure, ResultInvalid } from '../engine/errors.ts'
import type { AttemptContext, Log, LogAt } from '../engine/jobs/context.ts'
import { type AnyJob, type JobDescription, isHandled } from '../engine/jobs/definition.ts'
import { toJson } from '../engine/jobs/json.ts'
import { lineText } from '../engine/logs/line.ts'
import type { Clock } from '../engine/ports/clock.ts'
import type { Middleware } from '../engine/worker/middleware.ts'
import { misbehaviourOf } from './faults/handler.ts'
import { digest } from './hash.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

/**
 * Stands around every handler and tells the history what the handler got, when its signal fired, and what it
 * returned or threw: what the engine makes of it is compared with that. Handlers that misbehave do so here.
 */
export interface Witness {
  /** Two, so that their order shows. */
  readonly middleware: readonly Middleware[]
  /** The definitions, with handlers that show that they run. */
  readonly jobs: readonly JobDescription[]
}

type Ended = {
  readonly how: 'returned' | 'threw' | 'neither'
  readonly permanent: boolean
  readonly result: number
  readonly error: string | null
}

export function createWitness(
  world: World,
  owner: Incarnation,
  clock: Clock,
  jobs: readonly JobDescription[],
): Witness {
  const { recorder } = world
  const kinds = new Map(jobs.map((job) => [job.name, job]))
  /** What ran so far of each attempt, by its context. */
  const calls = new WeakMap<object, string>()

  const passed = (context: object, letter: string): void =>
    void calls.set(context, (calls.get(context) ?? '') + letter)

  const outer: Middleware = async (context, next) => {
    // The executor has just said whom it calls, and nothing was awaited since.
    const { job, epoch } = owner.entering ?? { job: context.job.id, epoch: 0 }
    const definition = kinds.get(context.job.kind)
    // What a schema made of the input is its own affair.
    const input = definition?.input ? 0 : digest(toJson(context.input))
    const abortsUncertain = definition?.settings.onUncertainLease === 'abort'
    const { fence } = context.attempt
    recorder.happened(owner, { type: 'handler.began', job, epoch, input, abortsUncertain, fence })
    watch(context, job, epoch)
    listen(context, job, epoch)
    passed(context, 'o')
    const ended = ({ how, permanent, result, error }: Ended): void => {
      const ran = calls.get(context) ?? ''
      recorder.happened(owner, {
        type: 'handler.ended',
        job,
        epoch,
        how,
        permanent,
        result,
        error,
        calls: ran,
      })
    }
    try {
      const value = await next()
      ended(resultOf(value))
      return value
    } catch (error) {
      ended({ how: 'threw', permanent: isPermanent(error), result: 0, error: codeOf(error) })
      throw error
    }
  }

  const inner: Middleware = (context, next) => {
    passed(context, 'i')
    const misbehave = misbehaviourOf(world, owner, clock)
    return misbehave ? misbehave(context, next, () => passed(context, 'h')) : next()
  }

  function watch({ signal }: AttemptContext<unknown>, job: string, epoch: number): void {
    const fired = (): void =>
      recorder.happened(owner, { type: 'handler.signalled', job, epoch, code: reasonOf(signal.reason) })
    if (signal.aborted) fired()
    else signal.addEventListener('abort', fired, { once: true })
  }

  /** Its log is one that the history hears, too; made when it is first looked at, as its own is. */
  function listen(context: AttemptContext<unknown>, job: string, epoch: number): void {
    const its = Object.getPrototypeOf(context) as object
    const get = (): Log => {
      const log = Reflect.get(its, 'log', context) as Log
      const heard =
        (say: LogAt): LogAt =>
        (message, fields) => {
          const text = digest(lineText(message, fields))
          recorder.happened(owner, { type: 'handler.said', job, epoch, text })
          say(message, fields)
        }
      const { debug, info, warn, error } = log
      return Object.assign(heard(log), {
        debug: heard(debug),
        info: heard(info),
        warn: heard(warn),
        error: heard(error),
      })
    }
    Object.defineProperty(context, 'log', { get })
  }

  function watched(job: AnyJob): AnyJob {
    const run = (context: AttemptContext<never>): unknown => {
      passed(context, 'h')
      return job.run(context)
    }
    return { ...job, run }
  }

  return {
    middleware: [outer, inner],
    jobs: jobs.map((job) => (isHandled(job) ? watched(job) : job)),
  }
}

function resultOf(value: unknown): Ended {
  try {
    return { how: 'returned', permanent: false, result: digest(toJson(value)), error: null }
  } catch {
    return { how: 'neither', permanent: true, result: 0, error: 'RESULT_INVALID' }
  }
}

function reasonOf(reason: unknown): string {
  return reason instanceof HoldfastError ? reason.code : 'OTHER'
}

function isPermanent(thrown: unknown): boolean {
  return isA(PermanentFailure, thrown) || isA(InputInvalid, thrown) || isA(ResultInvalid, thrown)
}

/** The code under which the engine is to store it. */
function codeOf(thrown: unknown): string {
  return isA(HoldfastError, thrown) ? thrown.code : 'HANDLER_ERROR'
}

function isA<T>(type: abstract new (...args: never[]) => T, thrown: unknown): thrown is T {
  try {
    return thrown instanceof type
  } catch {
    // A revoked proxy throws when it is asked for its prototype.
    return false
  }
}
