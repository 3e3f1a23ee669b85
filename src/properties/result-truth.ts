import type { EventOf, HistoryType } from '../engine/history.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: whoever waits for a result acts on it. What it is told must be what the job came to in the store: never the
 * answer of an attempt that was superseded, never a success of a job that failed, never nothing at all. (Contract 0.13,
 * 0.15, 14; cases E01, E31.)
 *
 * Blind spot: how soon it is told is not asked; and of a job that was retried an earlier end may be told.
 */
interface State {
  /** What became of each job, in order. */
  readonly ends: Map<string, End[]>
  readonly inserted: Set<string>
  /** Whoever asks late is told that there is none. */
  readonly removed: Set<string>
  readonly waiting: Map<string, number>
}
interface End {
  readonly state: string
  readonly result: number
  /** Null: not known. */
  readonly error: string | null
}

const on = [
  'job.inserted',
  'job.settled',
  'job.reclaimed',
  'job.timedOut',
  'job.takenBack',
  'job.cancelRequested',
  'job.removed',
  'result.awaited',
  'result.told',
  'run.ended',
] as const satisfies readonly HistoryType[]

export const resultTruth: Property = property({
  name: 'result-truth',
  kind: 'always',
  says: 'Who waits for a result is told what the job came to in the store, and of every job that ends.',
  blindSpot: 'How soon it is told is not asked, nor which of several ends of a job that was retried.',
  on,
  suspendedBy: [],
  recalls: ['inserted'],
  after: ['result.awaited'],
  start: (): State => ({ ends: new Map(), inserted: new Set(), removed: new Set(), waiting: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'job.inserted':
        return void state.inserted.add(event.job)
      case 'job.settled':
        if (event.settled === 'applied') ended(state, event.job, event)
        return
      case 'job.reclaimed':
      case 'job.timedOut':
      case 'job.takenBack':
        return ended(state, event.job, { state: event.state, result: 0, error: null })
      case 'job.cancelRequested':
        if (event.kind === 'cancelled')
          ended(state, event.job, { state: 'cancelled', result: 0, error: null })
        return
      case 'job.removed':
        return void state.removed.add(event.job)
      case 'result.awaited':
        return void state.waiting.set(event.job, (state.waiting.get(event.job) ?? 0) + 1)
      case 'result.told':
        return told(state, event, verdict)
      case 'run.ended':
        for (const [job, waiters] of state.waiting) untold(state, job, waiters, verdict)
    }
  },
})

function ended(
  { ends }: State,
  job: string,
  {
    state,
    result,
    error,
  }: { readonly state: string | null; readonly result: number; readonly error: string | null },
): void {
  if (state !== 'succeeded' && state !== 'failed' && state !== 'cancelled') return
  const all = ends.get(job)
  const end = { state, result, error }
  if (all) all.push(end)
  else ends.set(job, [end])
}

function told(state: State, event: EventOf<'result.told'>, verdict: Verdict): void {
  const { job, how, result, error } = event
  state.waiting.set(job, (state.waiting.get(job) ?? 0) - 1)
  if (how === 'timeout') return
  verdict.evaluated()
  const ends = state.ends.get(job) ?? []
  const violated = (kind: string, says: string): void =>
    verdict.violated({ kind, subject: job, message: `who waited for job ${job} was told ${says}` })
  if (how === 'missing' || how === 'other') {
    if (how === 'other' || (state.inserted.has(job) && !state.removed.has(job)))
      violated('wrong-end', `that it is ${how}, and it is there`)
    return
  }
  const is = how === 'value' ? 'succeeded' : how
  const such = ends.filter((end) => end.state === is)
  if (such.length === 0) return violated('wrong-end', `that it has ${is}, and it never has`)
  if (how === 'value' && such.every((end) => end.result !== result)) {
    return violated('wrong-result', 'another result than the one that was committed')
  }
  if (how === 'failed' && such.every((end) => end.error !== null && end.error !== error)) {
    violated(
      'wrong-error',
      `that it failed with ${error}, and it failed with ${such.map((end) => end.error).join(', ')}`,
    )
  }
}

function untold({ ends }: State, job: string, waiters: number, verdict: Verdict): void {
  if (waiters <= 0 || !ends.has(job)) return
  verdict.evaluated()
  verdict.violated({
    kind: 'untold',
    subject: job,
    message: `job ${job} has ended, and who waits for it was not told`,
  })
}
