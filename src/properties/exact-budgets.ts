import type { EventOf } from '../engine/history.ts'
import { type Retries, startsAnew } from './model/retries.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: three counters with three meanings. A crash that eats a retry, an eviction that is not counted, or a
 * release that is, all end with a good job dead-lettered or a bad one running for ever. An operator's retry
 * begins both anew. (Contract 0.4, 0.5, 5.12.)
 *
 * Blind spot: it compares the numbers that operations answer and the rows at the end; a counter that was
 * wrong in between, and right again before anybody looked, is not seen.
 */
interface Budget {
  readonly maxAttempts: number
  readonly maxEvictions: number
  attempt: number
  failures: number
  evictions: number
  epoch: number
  running: boolean
}

interface State {
  readonly budgets: Map<string, Budget>
  readonly retries: Retries
}
type Counter = 'attempt' | 'failures' | 'evictions'

export const exactBudgets: Property = property({
  name: 'exact-budgets',
  kind: 'always',
  says: 'Attempts, failures and evictions count exactly what they mean, and dead-letter exactly when spent.',
  blindSpot: 'A counter that is wrong only between two looks at it is not seen.',
  on: [
    'job.inserted',
    'job.claimed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'job.takenBack',
    'job.commanded',
    'job.removed',
    'job.final',
  ],
  suspendedBy: [],
  recalls: 'all',
  start: (): State => ({ budgets: new Map(), retries: new Map() }),
  step({ budgets, retries }, event, verdict) {
    if (event.type === 'job.inserted') return inserted(budgets, event)
    const budget = budgets.get(event.job)
    if (!budget) return
    if (event.type === 'job.commanded') {
      // Attempts and epochs go on: they name what was.
      if (startsAnew(retries, event)) [budget.failures, budget.evictions] = [0, 0]
      return
    }
    if (event.type === 'job.removed') return void budgets.delete(event.job)
    if (event.type === 'job.settled') return settled(budget, event, verdict)
    // Uncharged.
    if (event.type === 'job.takenBack') return void (budget.running = false)
    verdict.evaluated()
    switch (event.type) {
      case 'job.claimed':
        budget.attempt += 1
        budget.epoch = event.epoch
        budget.running = true
        return compareAll(budget, event, verdict)
      case 'job.reclaimed':
        budget.evictions += 1
        budget.running = false
        compare(budget, 'evictions', event.evictions, event, verdict)
        return judgeEnd(budget.evictions >= budget.maxEvictions, event, verdict)
      case 'job.timedOut':
        budget.failures += 1
        budget.running = false
        compare(budget, 'failures', event.failures, event, verdict)
        return judgeEnd(budget.failures >= budget.maxAttempts, event, verdict)
      case 'job.final':
        compareAll(budget, event, verdict)
        budgets.delete(event.job)
    }
  },
})

/** A repeated insert says so again, and one of a job that is there says what it asked for: the first counts. */
function inserted(
  budgets: State['budgets'],
  { job, maxAttempts, maxEvictions }: EventOf<'job.inserted'>,
): void {
  if (budgets.has(job)) return
  const none = { attempt: 0, failures: 0, evictions: 0, epoch: 0, running: false }
  budgets.set(job, { maxAttempts, maxEvictions, ...none })
}

function settled(budget: Budget, event: EventOf<'job.settled'>, verdict: Verdict): void {
  const current = budget.running && budget.epoch === event.epoch
  const changed = event.settled === 'applied' && (current || !event.repeated)
  if (!changed) return
  verdict.evaluated()
  budget.running = false
  if (event.outcome === 'failed') budget.failures += 1
  const spent = event.outcome === 'failed' && (event.permanent || budget.failures >= budget.maxAttempts)
  judgeEnd(spent, event, verdict)
}

function judgeEnd(
  spent: boolean,
  event: EventOf<'job.settled' | 'job.reclaimed' | 'job.timedOut'>,
  verdict: Verdict,
): void {
  if (spent === (event.state === 'failed')) return
  const kind = spent ? 'dead-lettered-late' : 'dead-lettered-early'
  const message = `${event.type} at epoch ${event.epoch} left job ${event.job} ${event.state}, its budget ${spent ? '' : 'not '}spent`
  verdict.violated({ kind, subject: event.job, message })
}

function compareAll(budget: Budget, event: EventOf<'job.claimed' | 'job.final'>, verdict: Verdict): void {
  compare(budget, 'attempt', event.attempt, event, verdict)
  compare(budget, 'failures', event.failures, event, verdict)
  compare(budget, 'evictions', event.evictions, event, verdict)
}

/** Goes on from what it was told, so that one slip is one violation. */
function compare(
  budget: Budget,
  counter: Counter,
  told: number,
  event: { readonly type: string; readonly job: string },
  verdict: Verdict,
): void {
  const expected = budget[counter]
  if (told === expected) return
  budget[counter] = told
  const message = `${event.type} of job ${event.job} says ${counter} ${told}, but ${expected} were charged`
  verdict.violated({ kind: `${counter}-miscounted`, subject: event.job, message })
}
