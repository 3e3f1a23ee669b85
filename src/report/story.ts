import type { HistoryEvent } from '../engine/history.ts'
import type { Step, Violation } from '../sim/recorder.ts'
import type { RunResult } from '../sim/run.ts'
import { inert } from './format.ts'

const linesMax = 24
/** What properties look at, and what tells a person nothing new. */
const untold: ReadonlySet<string> = new Set(['node.health', 'handler.began', 'enqueue.acknowledged'])

/** What happened to the subject of a violation until then, and to the nodes it ran on: one line an event. */
export function storyOf({ story }: RunResult, { subject, atMs }: Violation): string[] {
  const nodes = new Set<string>()
  const lines: string[] = []
  let last = ''
  for (const line of story ?? []) {
    if (line.atMs > atMs) break
    if ('step' in line || untold.has(line.type)) continue
    const about = 'job' in line ? line.job === subject : line.node === subject
    if (about) nodes.add(line.node)
    if (!about && !(isEnvironment(line) && (line.node === 'env' || nodes.has(line.node)))) continue
    // Of a row of heartbeats, or of sweeps, the last one tells all.
    const regular = line.type === 'lease.renewed' || (line.type === 'watch.moved' && line.kind === 'moved')
    if (regular && last === line.type) lines.pop()
    last = regular ? line.type : ''
    lines.push(storyLine(line))
  }
  const left = lines.length - linesMax
  return left > 0 ? [`... ${left} earlier lines: see replay --trace`, ...lines.slice(-linesMax)] : lines
}

/** One event of a run, in a person's words. */
export function storyLine(line: HistoryEvent | Step): string {
  const at = `+${(line.atMs / 1000).toFixed(3)}s`.padStart(10)
  const who = line.node === 'env' ? 'world' : `${line.node}#${line.incarnation}`
  return `${at}  ${inert(who).padEnd(9)} ${storyWords(line)}`
}

/** What happened, without when and where. */
export function storyWords(line: HistoryEvent | Step): string {
  return inert('step' in line ? `${line.step} ${line.label} ${line.outcome}`.trimEnd() : wordsOf(line))
}

/** It befell a process, the database or the world. */
export function isEnvironment({ type }: HistoryEvent): boolean {
  return (
    type.startsWith('node.') ||
    type.startsWith('database.') ||
    type === 'fault.struck' ||
    type === 'run.healed'
  )
}

function wordsOf(event: HistoryEvent): string {
  switch (event.type) {
    case 'job.inserted':
      return `enqueues ${event.job} (${event.kind})${event.created ? '' : ', which is there already'}`
    case 'handler.ended':
      return `the handler of ${event.job} ${event.how === 'threw' ? `throws ${event.error ?? ''}` : event.how} (epoch ${event.epoch})`
    case 'job.claimed':
      return `claims ${event.job} at epoch ${event.epoch} (attempt ${event.attempt}, under ${event.token})`
    case 'job.settled':
      return `settles ${event.job} at epoch ${event.epoch} as ${event.outcome}: ${event.settled}${event.repeated ? ' (a repeat)' : ''}; it is ${event.state ?? 'gone'}`
    case 'job.reclaimed':
      return `takes back the lapsed lease of ${event.job}, now epoch ${event.epoch}, eviction ${event.evictions}, ${event.state}`
    case 'job.timedOut':
      return `ends the overdue attempt of ${event.job}, now epoch ${event.epoch}, failure ${event.failures}, ${event.state}`
    case 'lease.renewed':
      return `renews the lease of ${event.job} at epoch ${event.epoch}`
    case 'claim.recovered':
      return `recovers its claim ${event.token}: it holds ${event.job} at epoch ${event.epoch}`
    case 'attempt.started':
      return `starts the handler of ${event.job} at epoch ${event.epoch} (attempt ${event.attempt})`
    case 'attempt.ended':
      return `the handler of ${event.job} at epoch ${event.epoch} ended: ${event.end}`
    case 'attempt.committing':
      return `the handler of ${event.job} at epoch ${event.epoch} commits`
    case 'attempt.committed':
      return `learns that what ${event.job} committed at epoch ${event.epoch} is kept`
    case 'effect.committed':
      return `keeps what ${event.job} wrote at epoch ${event.epoch}`
    case 'attempt.confirmed':
      return `learns that its settle of ${event.job} at epoch ${event.epoch} was ${event.settled}`
    case 'attempt.lost':
      return `learns that it lost ${event.job} at epoch ${event.epoch}`
    case 'attempt.uncertain':
      return `can no longer vouch for its lease on ${event.job} at epoch ${event.epoch}`
    case 'attempt.certain':
      return `can vouch for its lease on ${event.job} at epoch ${event.epoch} again`
    case 'fault.struck':
      return `FAULT ${event.fault}${event.call ? ` on ${event.call}` : ''}`
    case 'node.paused':
      return `stands still for ${event.forMs / 1000} s`
    case 'node.resumed':
      return 'goes on'
    case 'node.crashed':
      return 'the process dies'
    case 'node.started':
      return `process ${event.incarnation} starts`
    case 'service.called': {
      const answer = event.error === null ? `answers ${short(event.reply)}` : `refuses: ${event.error}`
      return `${event.service}.${event.call} of ${short(event.request)} ${answer}`
    }
    case 'database.down':
      return `the database goes away for ${event.forMs / 1000} s`
    case 'database.up':
      return 'the database is back'
    default:
      return otherWords(event)
  }
}

const shortMax = 120

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > shortMax ? `${text.slice(0, shortMax)}...` : text
}

/** The rest speaks for itself: the type and what it carries. */
function otherWords(event: HistoryEvent): string {
  const { type, atMs: _at, node: _node, incarnation: _incarnation, ...rest } = event
  const carries = Object.entries(rest).map(([key, value]) => `${key}=${String(value)}`)
  return [type, ...carries].join(' ')
}
