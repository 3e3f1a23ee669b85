import type { DeadLetterOptions } from '../../engine/dead-letters/dead-letters.ts'
import { CommandRefused, JobMissing } from '../../engine/errors.ts'
import type { JobRecord } from '../../engine/jobs/record.ts'
import { count, quoted } from '../../report/format.ts'
import { type ListColumn, listing } from '../listing.ts'
import { refuseOptions } from '../options.ts'
import type { ExitCode } from '../place.ts'
import { ago } from '../when.ts'
import { shown, whyOf } from './job.ts'
import { moreOf } from './jobs.ts'
import { type OperateOptions, operate } from './operate.ts'

export interface DeadLettersOptions extends OperateOptions {
  readonly kind?: readonly string[]
  readonly queue?: readonly string[]
  readonly limit?: number
  readonly cursor?: string
}

/** Many of them, or one. */
export async function deadLetters(id: string | undefined, options: DeadLettersOptions): Promise<ExitCode> {
  if (id === undefined) return listed(options)
  refuseOptions(options, ['kind', 'queue', 'limit', 'cursor'], 'of one dead letter')
  return operate(options, async (engine) => {
    const job = await engine.deadLetters.get(id)
    if (job) return shown(engine, job)
    const other = await engine.get(id)
    if (!other) throw new JobMissing(`there is no job ${id}`)
    const { state, replayedAs } = other
    const is = replayedAs === null ? state : `replayed as ${replayedAs}`
    throw new CommandRefused(
      `job ${id} is no dead letter, it is ${is}; see it with: holdfast jobs ${quoted(id)}`,
    )
  })
}

function listed(options: DeadLettersOptions): Promise<ExitCode> {
  return operate(options, async (engine) => {
    const page = await engine.deadLetters.list(queryOf(options))
    const nowMs = await engine.store.now()
    const rows = page.jobs.map((job) => rowOf(job, nowMs))
    const says = rows.length === 0 ? ['there is no such dead letter'] : listing(columns, rows)
    return { says: [...says, ...moreOf(page)].join('\n'), data: page }
  })
}

/** As the engine takes them. */
export function queryOf({ kind, queue, limit, cursor }: DeadLettersOptions): DeadLetterOptions {
  return {
    ...(kind && { kind }),
    ...(queue && { queue }),
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
  }
}

const columns: readonly ListColumn[] = [
  { title: 'died' },
  { title: 'attempts', right: true },
  { title: 'kind', cut: true },
  { title: 'queue', cut: true },
  { title: 'why', cut: true },
  { title: 'job' },
]

function rowOf(job: JobRecord, nowMs: number): string[] {
  const { id, kind, queue } = job.spec
  return [ago(job.deadAtMs ?? nowMs, nowMs), count(job.attempt), kind, queue, whyOf(job), id]
}
