import type { ClaimParams, ClaimedJob } from '../ports/store.ts'
import type { RestState } from '../rest-state.ts'
import type { Intervals } from '../settings.ts'

type Queues = ClaimParams['queues']
type Asked = Pick<ClaimParams, 'queues' | 'limit'>

/** How long the fetch loop waits before its next poll, and for which queues it does not. */
export interface Pace {
  /** 0: at once. Infinite: until something happens. */
  readonly waitMs: number
  now(): void
  after(waitMs: number): void
  /** After a poll that brought nothing: twice as long as after the one before, within the bounds. */
  backOff(): void
  /** After a claim that asked `asked`; `free` is what is free now. */
  claimed(asked: Asked, jobs: readonly ClaimedJob[], free: Queues): void
  /** A slot of this queue is worth a poll of its own. */
  waitsFor(queue: string): boolean
  /** Forgets how long it was idle. */
  reset(): void
  atRest(): RestState
}

export function createPace({ pollMs, pollMsMax }: Intervals): Pace {
  const state = {
    waitMs: 0,
    idleMs: 0,
    /** Queues that gave all they were asked for: they may have more. */
    full: [] as readonly string[],
  }

  const pace: Pace = {
    get waitMs() {
      return state.waitMs
    },
    now: () => {
      state.waitMs = 0
    },
    after: (waitMs) => {
      state.waitMs = waitMs
    },
    backOff: () => {
      state.idleMs = Math.min(pollMsMax, Math.max(pollMs, 2 * state.idleMs))
      state.waitMs = state.idleMs
    },
    claimed: (asked, jobs, free) => {
      state.full = fullAfter(state.full, asked, jobs)
      if (jobs.length === 0) pace.backOff()
      else [state.idleMs, state.waitMs] = [0, pollMs]
      if (free.some(({ queue }) => state.full.includes(queue))) state.waitMs = 0
    },
    waitsFor: (queue) => state.waitMs === Number.POSITIVE_INFINITY || state.full.includes(queue),
    reset: () => {
      state.idleMs = 0
      state.waitMs = 0
    },
    // How long it waits its timer says, and the next turn says it anew.
    atRest: () => ({ idleMs: state.idleMs, full: state.full }),
  }
  return pace
}

/** The queues that are full now: those that gave all they were asked for, and those that were not asked. */
function fullAfter(
  before: readonly string[],
  { queues, limit }: Asked,
  jobs: readonly ClaimedJob[],
): string[] {
  if (jobs.length === 0 && before.length === 0) return []
  const left = new Map(queues.map(({ queue, limit }) => [queue, limit]))
  for (const { spec } of jobs) left.set(spec.queue, (left.get(spec.queue) ?? 0) - 1)
  const unasked = before.filter((queue) => !left.has(queue))
  // Of a batch that is full nobody knows which of the queues would have given more.
  const gaveAll = jobs.length >= limit ? [...left] : [...left].filter(([, more]) => more <= 0)
  return [...unasked, ...gaveAll.map(([queue]) => queue)]
}
