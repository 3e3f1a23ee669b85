import { InvalidArgument } from '../../engine/errors.ts'
import type { AttemptContext } from '../../engine/jobs/context.ts'
import { type AnyJob, type JobDescription, isHandled } from '../../engine/jobs/definition.ts'

/**
 * Handlers of a topology may sleep once, or return at once. How far such a handler is shows in the timer that it waits
 * for; of any other the state would hide what decides its future, and two states would be taken for one. What a
 * handler keeps between its attempts cannot be seen here.
 *
 * `refuse` is told of what a handler does beyond that, and is to end the walk.
 */
export function onlySleeping(
  jobs: readonly JobDescription[],
  refuse: (error: InvalidArgument) => void,
): readonly JobDescription[] {
  return jobs.map((job) => (isHandled(job) ? sleeper(job, refuse) : job))
}

function sleeper(job: AnyJob, refuse: (error: InvalidArgument) => void): AnyJob {
  const refused = (what: string): Promise<never> => {
    refuse(
      new InvalidArgument(
        `job ${job.name}: ${what}; in a topology a handler may sleep once, or return at once, since more of its state cannot be seen`,
      ),
    )
    return new Promise(() => {})
  }
  const run = job.run as (context: AttemptContext<unknown>) => unknown
  return {
    ...job,
    run: async (context: AttemptContext<unknown>): Promise<unknown> => {
      const result = await run(narrowed(context, refused))
      // Such text names a process or a claim to whoever identifies states.
      if (JSON.stringify(result)?.includes('~')) return refused("its handler returned a text with a '~'")
      return result
    },
  }
}

function narrowed(
  context: AttemptContext<unknown>,
  refused: (what: string) => Promise<never>,
): AttemptContext<unknown> {
  const { attempt } = context
  const cannot = (what: string) => (): Promise<never> => refused(`its handler called ${what}`)
  const says = cannot('log')
  let sleeps = 0
  return {
    input: context.input,
    job: context.job,
    signal: context.signal,
    attempt: {
      number: attempt.number,
      failures: attempt.failures,
      evictions: attempt.evictions,
      get leaseCertain(): boolean {
        return attempt.leaseCertain
      },
      get fence(): string {
        void refused('its handler read its fence')
        return ''
      },
    },
    progress: cannot('progress'),
    checkpoint: cannot('checkpoint'),
    log: Object.assign(() => void says(), { debug: says, info: says, warn: says, error: says }),
    commit: cannot('commit'),
    sleep: (delayMs) => (sleeps++ === 0 ? context.sleep(delayMs) : refused('its handler slept twice')),
  }
}
