import type { DatabaseState, NodeState, WorldState } from '../sim/state-of.ts'
import { type JobState, isTerminal } from '../engine/jobs/record.ts'
import { count, inert, table } from './format.ts'

const ends: readonly JobState[] = ['succeeded', 'failed', 'cancelled']

/** A world at one event, as a person reads it: of the jobs those that have not ended, and those it is `about`. */
export function stateText(
  { atMs, events, nodes, database }: WorldState,
  about: ReadonlySet<string>,
): string[] {
  const shown = database.jobs.filter(({ id, state }) => !isTerminal(state) || about.has(id))
  const others = ends
    .map(
      (end) =>
        [end, database.jobs.filter((job) => job.state === end && !shown.includes(job)).length] as const,
    )
    .flatMap(([end, jobs]) => (jobs === 0 ? [] : [`${count(jobs)} ${end}`]))
  return [
    `as it stands after event ${count(events)}, at +${instant(atMs)}`,
    '',
    ...table(
      [
        { title: 'machine' },
        { title: 'is' },
        { title: 'says' },
        { title: 'clock' },
        { title: 'handlers' },
        { title: 'faults that wait' },
      ],
      nodes.map(nodeRow),
    ),
    '',
    `  database ${database.down === null ? 'up' : `away (${inert(database.down)})`}${database.aheadMs === 0 ? '' : `, its clock off by ${instant(database.aheadMs)}`}${watchWords(database)}`,
    ...table(
      [
        { title: 'job' },
        { title: 'state' },
        { title: 'epoch', right: true },
        { title: 'attempt', right: true },
        { title: 'failures', right: true },
        { title: 'evictions', right: true },
        { title: 'visible / lease ends' },
        { title: 'held by' },
      ],
      shown.map(jobRow),
    ),
    ...(others.length > 0 ? [`  and jobs that have ended: ${others.join(', ')}`] : []),
  ]
}

function nodeRow({
  name,
  incarnation,
  is,
  status,
  skewMs,
  handlers,
  uncertain,
  unsettled,
  armed,
}: NodeState): string[] {
  const more = [
    uncertain > 0 ? `${uncertain} uncertain` : null,
    unsettled > 0 ? `${unsettled} unsettled` : null,
  ]
  const says = [status ?? '-', ...more.filter((part) => part !== null)].join(', ')
  return [
    inert(`${name}#${incarnation}`),
    is,
    says,
    skewMs === 0 ? 'right' : `off by ${instant(skewMs)}`,
    handlers.map(({ job, epoch }) => inert(`${job} e${epoch}`)).join(', ') || '-',
    armed.map(inert).join(', ') || '-',
  ]
}

function jobRow({
  id,
  state,
  epoch,
  attempt,
  failures,
  evictions,
  visibleAtMs,
  lease,
}: DatabaseState['jobs'][number]): string[] {
  const until = lease ? lease.endsMs : visibleAtMs
  return [
    inert(id),
    state,
    ...[epoch, attempt, failures, evictions].map(count),
    until === null ? '-' : `+${instant(until)}`,
    lease ? inert(`${lease.worker ?? '?'} under ${lease.token}`) : '-',
  ]
}

function watchWords({ watch }: DatabaseState): string {
  if (!watch || watch.seenSinceMs === null || watch.seenAtMs === null) return ''
  return `; seen since +${instant(watch.seenSinceMs)}, last at +${instant(watch.seenAtMs)}`
}

function instant(ms: number): string {
  return `${(ms / 1000).toFixed(3)}s`
}
