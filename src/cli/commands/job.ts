import type { Engine } from '../../engine/api.ts'
import { JobMissing } from '../../engine/errors.ts'
import { type JobMoment, momentsOf } from '../../engine/jobs/events.ts'
import { priorities } from '../../engine/jobs/job-settings.ts'
import type { JobSummary } from '../../engine/jobs/queries.ts'
import type { JobError, JobRecord } from '../../engine/jobs/record.ts'
import { inert, plural } from '../../report/format.ts'
import { bounded, facts } from '../listing.ts'
import type { ExitCode } from '../place.ts'
import { duration, exactDuration, instant, instantAndAgo } from '../when.ts'
import { type Done, type OperateOptions, operate } from './operate.ts'

export function oneJob(id: string, options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => {
    const job = await engine.get(id)
    if (!job) throw new JobMissing(`there is no job ${id}`)
    return shown(engine, job)
  })
}

/** All that is known of one job. */
export async function shown(engine: Engine, job: JobRecord): Promise<Done> {
  const nowMs = await engine.store.now()
  const events = momentsOf(job)
  const text = [
    ...facts([...whatOf(job), ...lifeOf(job, nowMs), ...carriedBy(job)]),
    ...(job.error?.stack === undefined ? [] : ['', ...stackOf(job.error.stack)]),
    '',
    ...events.map(momentOf),
  ]
  return { says: text.join('\n'), data: { job, events } }
}

/** In a word or two; what became of a failed job says more than that it failed. */
export function stateOf({
  state,
  deadAtMs,
  replayedAs,
  visibleAtMs,
  cancelRequestedAtMs,
}: JobSummary): string {
  if (state === 'queued' && visibleAtMs === null) return 'undispatched'
  if (state === 'running' && cancelRequestedAtMs !== null) return 'cancelling'
  if (replayedAs !== null) return 'replayed'
  return deadAtMs === null ? state : 'dead letter'
}

/** Why it failed, or failed last; nothing of what succeeded all the same. */
export function whyOf({ state, error }: JobSummary): string {
  return state === 'succeeded' || error === null ? '' : reasonOf(error)
}

/** The code of what any handler throws says nothing. */
function reasonOf({ code, message }: JobError): string {
  return code === 'HANDLER_ERROR' ? message : `${code} ${message}`
}

type Fact = readonly [string, string | null]

function whatOf(job: JobRecord): Fact[] {
  const { spec, replayedAs } = job
  const { lineage } = spec
  return [
    ['job', spec.id],
    ['kind', spec.kind],
    ['queue', `${spec.queue}, priority ${priorities[spec.band] ?? spec.band}`],
    ['tenant', spec.tenant],
    ['keys', spec.keys.join(', ') || null],
    ['metadata', spec.metadata && JSON.stringify(spec.metadata)],
    ['replay of', lineage && `${lineage.parent} (replay ${lineage.replays} of ${lineage.root})`],
    ['replayed as', replayedAs],
  ]
}

function lifeOf(job: JobRecord, nowMs: number): Fact[] {
  const { spec, progress, visibleAtMs, claimedAtMs, finishedAtMs, cancelRequestedAtMs, deadAtMs } = job
  const at = (ms: number | null): string | null => (ms === null ? null : instantAndAgo(ms, nowMs))
  const failures = `${plural(job.failures, 'failure')} of ${spec.maxAttempts}`
  const evictions = `${plural(job.evictions, 'lost lease')} of ${spec.maxEvictions}`
  const running = job.state === 'running' && claimedAtMs !== null
  return [
    ['state', job.state],
    ['dead letter', deadAtMs === null ? null : `since ${at(deadAtMs)}`],
    ['why', whyOf(job) || null],
    ['attempts', `${job.attempt} (${failures}, ${evictions})`],
    ['created', at(job.createdAtMs)],
    ['due', at(visibleAtMs)],
    ['running', running ? `since ${instant(claimedAtMs)}, for ${duration(nowMs - claimedAtMs)}` : null],
    ['claimed by', running ? job.token : null],
    ['progress', progress && `${progress.percent} %${progress.phase === null ? '' : `, ${progress.phase}`}`],
    ['cancel', cancelRequestedAtMs === null ? null : `asked for ${at(cancelRequestedAtMs)}`],
    ['ended', at(finishedAtMs)],
    ['bounds', `${exactDuration(spec.timeoutMs)} an attempt, lease ${exactDuration(spec.leaseTtlMs)}`],
    [
      'kept',
      `for ${exactDuration(spec.keepMs)} once it has ended${job.deadAtMs === null ? '' : ', longer while it is a dead letter'}`,
    ],
    ['version', `${job.version}, epoch ${job.epoch}`],
  ]
}

/** As it is stored: no codec is known here. */
function carriedBy({ spec, result }: JobRecord): Fact[] {
  return [
    ['input', spec.inputVersion === 1 ? spec.input : `${spec.input} (version ${spec.inputVersion})`],
    ['result', result],
  ]
}

const stackLinesMax = 12

function stackOf(stack: string): string[] {
  const lines = stack.split('\n')
  const more = lines.length - stackLinesMax
  return [
    ...lines.slice(0, stackLinesMax).map((line) => bounded(inert(line))),
    ...(more > 0 ? [`    (${plural(more, 'line')} more: --json)`] : []),
  ]
}

function momentOf(moment: JobMoment): string {
  const { kind, atMs } = moment
  const what = kind === 'ended' ? `ended: ${moment.state}` : kind.replace('-', ' ')
  const attempt = 'attempt' in moment && moment.attempt > 0 ? `, attempt ${moment.attempt}` : ''
  const error = kind !== 'ended' && 'error' in moment && moment.error ? `: ${reasonOf(moment.error)}` : ''
  return `${instant(atMs)}  ${bounded(inert(`${what}${attempt}${error}`))}`
}
