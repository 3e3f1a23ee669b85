import type { Engine } from '../../engine/api.ts'
import type { ReplayedAll } from '../../engine/dead-letters/replay-all.ts'
import { CommandRefused, InvalidArgument, StoreUnavailable } from '../../engine/errors.ts'
import { requireId } from '../../engine/jobs/text.ts'
import { count, inert, plural } from '../../report/format.ts'
import { refuseOptions } from '../options.ts'
import type { ExitCode } from '../place.ts'
import { type DeadLettersOptions, queryOf } from './dead-letters.ts'
import { type Done, type OperateOptions, operate } from './operate.ts'

/** What becomes of dead letters: each is replayed or discarded, whatever is refused of another. */

export interface ReplayDeadOptions extends DeadLettersOptions {
  readonly all?: boolean
}

/** 0: all that were named are replayed, now or before; with `all`, none of them is left. */
export async function replayDead(ids: readonly string[], options: ReplayDeadOptions): Promise<ExitCode> {
  const named = ids.length > 0
  if (named === (options.all ?? false)) throw new InvalidArgument('give either ids or --all')
  refuseOptions(options, ['cursor'], 'of a replay')
  if (options.all) return replayAll(options)
  refuseOptions(options, ['kind', 'queue', 'limit'], 'without --all')
  return each(ids, options, 'replays', async ({ deadLetters }, job) => {
    const replay = await deadLetters.replay(job)
    const says = replay.created ? 'replayed as' : 'was replayed before, as'
    return { says: `${says} ${inert(replay.id)}`, data: replay }
  })
}

export async function discardDead(ids: readonly string[], options: DeadLettersOptions): Promise<ExitCode> {
  refuseOptions(options, ['kind', 'queue', 'limit', 'cursor'], 'of a discard')
  return each(ids, options, 'discards', async ({ deadLetters }, job) => {
    await deadLetters.discard(job)
    return { says: 'is a dead letter no more, and stays failed', data: { discarded: true } }
  })
}

/** One after the other: what is refused of one keeps no other from it; what was done is told, whatever comes then. */
function each(
  ids: readonly string[],
  options: OperateOptions,
  name: string,
  act: (engine: Engine, job: string) => Promise<Done>,
): Promise<ExitCode> {
  for (const id of ids) requireId(id)
  return operate(options, async (engine) => {
    const says: string[] = []
    const data: object[] = []
    let ok = true
    const done = (): Done => ({ says: says.join('\n'), data: { [name]: data }, ok })
    for (const job of ids) {
      try {
        const one = await act(engine, job)
        says.push(`job ${inert(job)}: ${one.says}`)
        data.push({ job, ...one.data })
      } catch (error) {
        if (!(error instanceof CommandRefused)) return { ...done(), broke: error }
        const { code, message } = error
        data.push({ job, error: { code, message } })
        process.stderr.write(`error: ${inert(message)}\n`)
        ok = false
      }
    }
    return done()
  })
}

async function replayAll(options: ReplayDeadOptions): Promise<ExitCode> {
  const { kind, queue, limit } = queryOf(options)
  const told = untilTold()
  try {
    return await operate(options, async (engine) => {
      const lanes = { ...(kind && { kind }), ...(queue && { queue }), ...(limit !== undefined && { limit }) }
      const done = await engine.deadLetters.replayAll({ ...lanes, signal: told.signal }).catch(cutOff)
      return { says: saidOf(done), data: done, ok: done.complete && done.taken === 0 }
    })
  } finally {
    told.forget()
  }
}

function cutOff(error: unknown): never {
  if (error instanceof StoreUnavailable) {
    process.stderr.write('what was replayed stays so: run it again for the rest\n')
  }
  throw error
}

function saidOf({ replayed, gone, taken, complete }: ReplayedAll): string {
  return [
    `${plural(replayed, 'dead letter')} replayed`,
    ...(gone === 0 ? [] : [`${count(gone)} seen to by others meanwhile`]),
    ...(taken === 0
      ? []
      : [`${count(taken)} left, since the id of the replay is another job's: retry them instead`]),
    ...(complete ? [] : ['there may be more: run it again for the rest']),
  ].join('\n')
}

/** The first signal ends it after the batch in hand; the second ends the process. */
function untilTold(): { readonly signal: AbortSignal; readonly forget: () => void } {
  const stop = new AbortController()
  const signals = ['SIGTERM', 'SIGINT'] as const
  const onSignal = (): void => {
    forget()
    process.stderr.write('ends after the batch in hand\n')
    stop.abort()
  }
  const forget = (): void => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return { signal: stop.signal, forget }
}
