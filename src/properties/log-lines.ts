import type { EventOf } from '../engine/history.ts'
import { type Holds, holdEvents, isHolder, noteHold } from './model/holds.ts'
import { span } from './model/when.ts'
import { nameOf } from './model/who.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: a log is what people believe when something has gone wrong. A repeat that appends twice, a line of an attempt that
 * was taken over, one that is missing though the attempt was settled, or numbers that move tell a story that never
 * happened. (Contract 13, 0.13, 27.67; cases E03.)
 *
 * Blind spot: lines are compared as digests, and what a handler says in or after its commit may be lost.
 */
interface State {
  readonly holds: Holds
  /** What the handlers said while their attempts went on, by job and epoch. */
  readonly said: Map<string, Map<number, Attempt>>
  /** The same of jobs that were removed: a restore from a backup may bring them back. */
  readonly former: Map<string, Map<number, Attempt>>
  /** Processes that were asked to stop: they wait for nothing for long. */
  readonly stopping: Set<string>
  storeCallMs: number
  /** How many lines each log has taken, and up to which line of which attempt. */
  readonly taken: Map<string, { count: number; epoch: number; line: number }>
}
interface Attempt {
  readonly texts: number[]
  /** What is said from then on is not heard any more. */
  endedAtMs: number | null
  /** Its settle applied, and nobody said that lines of it are lost: all of them must be there. */
  settled: boolean
  lossy: boolean
}

/** So many lines of a job are kept. */
const keptMax = 2_000

export const logLinesOnceInOrder: Property = property({
  name: 'log-lines-once-in-order',
  kind: 'always',
  says: 'A log has what each attempt said, each line once and in order, none of an attempt that was superseded, under numbers that stay.',
  blindSpot:
    'Lines are compared as digests, and of one that was said in or after a commit it is not asked where it is.',
  on: [
    ...holdEvents,
    'run.started',
    'node.stopping',
    'handler.said',
    'attempt.ended',
    'attempt.committing',
    'log.lost',
    'log.appended',
    'log.final',
    'database.restored',
  ],
  suspendedBy: [],
  recalls: ['holds', 'taken'],
  after: ['log.appended'],
  start: (): State => ({
    holds: new Map(),
    said: new Map(),
    former: new Map(),
    stopping: new Set(),
    storeCallMs: 0,
    taken: new Map(),
  }),
  step(state, event, verdict) {
    const { holds, said } = state
    switch (event.type) {
      case 'log.appended':
        return appended(state, event, verdict)
      case 'job.removed':
        state.former.set(event.job, said.get(event.job) ?? new Map())
        for (const known of [holds, said, state.taken]) known.delete(event.job)
        return
      case 'database.restored':
        return restored(state)
      case 'log.final':
        return final(state, event, verdict)
      case 'handler.said': {
        const attempt = attemptOf(said, event)
        if (attempt.endedAtMs === null) attempt.texts.push(event.text)
        return
      }
      case 'attempt.ended':
        return mark(said, event, (attempt) => (attempt.endedAtMs = event.atMs))
      case 'run.started':
        return void (state.storeCallMs = event.storeCallMs)
      case 'node.stopping':
        return void state.stopping.add(nameOf(event))
      case 'log.lost':
        if (event.why === 'fenced') return
        return mark(said, event, (attempt) => lost(state, attempt, event, verdict))
      case 'attempt.committing':
        return mark(said, event, (attempt) => (attempt.lossy = true))
      default:
        if (event.type === 'job.settled' && event.settled === 'applied') {
          mark(said, event, (attempt) => (attempt.settled = true))
        }
        noteHold(holds, event)
    }
  },
})

/** Of what was said, lines may be missing that were there. */
function restored({ said, former }: State): void {
  for (const [job, attempts] of former) {
    for (const [epoch, { texts }] of attempts) {
      const attempt = attemptOf(said, { job, epoch })
      attempt.texts.unshift(...texts)
    }
  }
  former.clear()
  for (const attempts of said.values()) for (const attempt of attempts.values()) attempt.lossy = true
}

type Of = { readonly job: string; readonly epoch: number }

function attemptOf(said: State['said'], { job, epoch }: Of): Attempt {
  let attempts = said.get(job)
  if (!attempts) said.set(job, (attempts = new Map()))
  let attempt = attempts.get(epoch)
  if (!attempt) attempts.set(epoch, (attempt = { texts: [], endedAtMs: null, settled: false, lossy: false }))
  return attempt
}

/** Only of one that has said something. */
function mark(said: State['said'], { job, epoch }: Of, change: (attempt: Attempt) => void): void {
  const attempt = said.get(job)?.get(epoch)
  if (attempt) change(attempt)
}

/** An attempt that has lost its fence otherwise than by its own settle has a right to lose its lines. */
function lost(
  { stopping, storeCallMs }: State,
  attempt: Attempt,
  event: EventOf<'log.lost'>,
  verdict: Verdict,
): void {
  attempt.lossy = true
  const { job, epoch, lines, why, atMs } = event
  if (why !== 'unavailable' || attempt.endedAtMs === null || stopping.has(nameOf(event))) return
  verdict.evaluated()
  // Half: clocks of machines may be fast.
  if (atMs - attempt.endedAtMs >= storeCallMs / 2) return
  const message = `${nameOf(event)} gave up ${lines} lines of job ${job} at epoch ${epoch} ${span(atMs - attempt.endedAtMs)} after its end`
  verdict.violated({ kind: 'given-up-early', subject: job, message })
}

function appended({ holds, taken }: State, event: EventOf<'log.appended'>, verdict: Verdict): void {
  verdict.evaluated()
  const { job, epoch, applied, lines } = event
  if (applied) take(taken, job, epoch, lines)
  if (applied === isHolder(holds.get(job), event)) return
  const kind = applied ? 'unfenced-line' : 'holder-refused'
  const says = applied
    ? 'were taken, though it does not hold the job'
    : 'were refused, though it holds the job'
  const message = `lines of job ${job} by ${nameOf(event)} at epoch ${epoch} ${says}`
  verdict.violated({ kind, subject: job, message })
}

function take(taken: State['taken'], job: string, epoch: number, lines: readonly number[]): void {
  let log = taken.get(job)
  if (!log) taken.set(job, (log = { count: 0, epoch, line: -1 }))
  if (log.epoch !== epoch) {
    log.epoch = epoch
    log.line = -1
  }
  for (const line of lines) {
    if (line <= log.line) continue
    log.count += 1
    log.line = line
  }
}

function final({ said, taken }: State, event: EventOf<'log.final'>, verdict: Verdict): void {
  const { job, next, ns, epochs, texts } = event
  const attempts = said.get(job) ?? new Map<number, Attempt>()
  const violated = (kind: string, message: string): void => verdict.violated({ kind, subject: job, message })
  verdict.evaluated()
  const count = taken.get(job)?.count ?? 0
  if (next !== count) {
    return violated(
      'renumbered',
      `the log of job ${job} would go on with line ${next}, and ${count} were taken`,
    )
  }
  const first = next - Math.min(next, keptMax)
  if (ns.length !== next - first || ns.some((n, k) => n !== first + k)) {
    const range = ns.length === 0 ? 'none' : `${ns[0]} to ${ns.at(-1)}, ${ns.length} in all`
    return violated(
      'renumbered',
      `the log of job ${job} has lines ${range}, and ${first} to ${next - 1} are to be there`,
    )
  }
  const late = epochs.findIndex((epoch, k) => k > 0 && epoch < (epochs[k - 1] as number))
  if (late > 0) {
    const message = `line ${ns[late]} of job ${job} is of epoch ${epochs[late]}, and came after one of epoch ${epochs[late - 1]}`
    return violated('line-of-superseded-attempt', message)
  }
  for (const [epoch, attempt] of attempts) {
    const own = texts.filter((_text, k) => epochs[k] === epoch)
    const problem = problemOf(attempt, own, first > 0 && (epochs[0] ?? 0) >= epoch)
    if (problem) violated(problem.kind, `of what job ${job} said at epoch ${epoch} ${problem.says}`)
  }
  const strange = epochs.find((epoch) => !attempts.has(epoch))
  if (strange !== undefined)
    violated('line-unsaid', `the log of job ${job} has lines of epoch ${strange}, which said nothing`)
}

/** `trimmed`: its first lines may have been dropped. */
function problemOf(
  { texts, settled, lossy }: Attempt,
  kept: readonly number[],
  trimmed: boolean,
): { readonly kind: string; readonly says: string } | null {
  let from = 0
  let missed = 0
  let noted = false
  for (const [k, text] of kept.entries()) {
    if (text === 0) {
      noted = true
      continue
    }
    const at = texts.indexOf(text, from)
    if (at < 0) {
      const again = texts.includes(text)
      return again
        ? { kind: 'line-twice', says: `line ${k} of those that are kept is there twice, or out of order` }
        : { kind: 'line-unsaid', says: `line ${k} of those that are kept was never said` }
    }
    if (!(trimmed && k === 0)) missed += at - from
    from = at + 1
  }
  if (!trimmed || kept.length > 0) missed += texts.length - from
  if (missed === 0 || !settled || lossy || noted) return null
  return { kind: 'line-lost', says: `${missed} lines are missing, though it was settled, and nobody said so` }
}
