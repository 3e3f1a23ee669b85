import type { EventOf } from '../engine/history.ts'
import { type Retries, startsAnew } from './model/retries.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: whoever replays a dead letter means one job, the one that failed, and he may ask twice, or be one of two. A
 * replay that leaves out the lease of a six hours' job is reclaimed for ever, one that leaves out what the job is found
 * by is found by nobody, and one that is made twice is done twice. (Contract 0.16, 16, 27.3, 27.4; E09, E22.)
 *
 * Blind spot: what the new job states is compared when it is made, not when it is claimed.
 */
interface Lineage {
  readonly root: string
  readonly parent: string
  readonly replays: number
}

interface State {
  /** Each dead letter that was replayed, and as what. */
  readonly as: Map<string, string>
  /** Each job that replays one, and where it comes from. */
  readonly from: Map<string, Lineage>
  /** Jobs that were removed: nothing can be compared with them. */
  readonly gone: Set<string>
  readonly retries: Retries
}

export const replayedOnceAndWhole: Property = property({
  name: 'replayed-once-and-whole',
  kind: 'always',
  says: 'Of a dead letter comes at most one job, which states all that the failed one stated, and where it comes from.',
  blindSpot: 'What the new job states is compared when it is made, not when it is claimed.',
  on: ['job.replayed', 'replay.refused', 'job.commanded', 'job.removed', 'job.final'],
  suspendedBy: [],
  recalls: 'all',
  after: ['job.replayed'],
  start: (): State => ({ as: new Map(), from: new Map(), gone: new Set(), retries: new Map() }),
  step(state, event, verdict) {
    switch (event.type) {
      case 'job.replayed':
        return replayed(state, event, verdict)
      case 'replay.refused':
        return refused(state, event, verdict)
      case 'job.commanded':
        if (startsAnew(state.retries, event) && state.as.has(event.job)) {
          const message = `job ${event.job} was replayed as ${state.as.get(event.job)}, and then retried`
          verdict.violated({ kind: 'retried-after-replay', subject: event.job, message })
        }
        return
      case 'job.removed':
        state.as.delete(event.job)
        state.from.delete(event.job)
        return void state.gone.add(event.job)
      case 'job.final':
        return final(state, event, verdict)
    }
  },
})

function replayed(state: State, event: EventOf<'job.replayed'>, verdict: Verdict): void {
  const { job, as, stated, copied, lineage, applied } = event
  verdict.evaluated()
  const before = state.as.get(job)
  const expected = lineageOf(state, job)
  state.as.set(job, before ?? as)
  const violated = (kind: string, message: string): void => verdict.violated({ kind, subject: job, message })
  if (before !== undefined && (before !== as || applied)) {
    return violated('replayed-twice', `job ${job} was replayed as ${before}, and then as ${as}`)
  }
  if (applied) state.gone.delete(as)
  if (copied === null && state.gone.has(as)) return
  if (copied === null)
    return violated('nothing-made', `job ${job} was replayed as ${as}, and there is no such job`)
  if (state.from.has(as) && before === undefined) {
    return violated('two-in-one', `jobs ${job} and ${state.from.get(as)?.parent} were both replayed as ${as}`)
  }
  state.from.set(as, expected)
  if (copied !== stated)
    violated('not-whole', `job ${as} does not state what job ${job} stated, which it replays`)
  if (!same(lineage, expected)) {
    violated('other-lineage', `job ${as} comes from ${told(lineage)}, and says ${told(expected)} of itself`)
  }
  const id = `${expected.root}~r${expected.replays}`
  if (id.length <= 512 && as !== id)
    violated('other-id', `job ${job} was replayed as ${as}, and not as ${id}`)
}

function lineageOf({ from }: State, job: string): Lineage {
  const own = from.get(job)
  return { root: own?.root ?? job, parent: job, replays: (own?.replays ?? 0) + 1 }
}

/** Whoever comes second is told as what it was replayed; and nobody, that it is none or that the place is taken. */
function refused(state: State, { job, why, as }: EventOf<'replay.refused'>, verdict: Verdict): void {
  const before = state.as.get(job) ?? null
  if (before === null && why !== 'already') return
  verdict.evaluated()
  if (before === as) return
  const message = `job ${job} was ${before === null ? 'never replayed' : `replayed as ${before}`}, and is said to be ${why}${as === null ? '' : ` as ${as}`}`
  verdict.violated({ kind: 'told-otherwise', subject: job, message })
}

function final(state: State, { job, replayedAs, lineage }: EventOf<'job.final'>, verdict: Verdict): void {
  const as = state.as.get(job) ?? null
  const from = state.from.get(job) ?? null
  if (as === null && from === null && replayedAs === null && lineage === null) return
  verdict.evaluated()
  if (replayedAs !== as) {
    const message = `job ${job} is marked as replayed as ${replayedAs}, and was replayed as ${as}`
    verdict.violated({ kind: 'marked-otherwise', subject: job, message })
  }
  if (same(lineage, from)) return
  const message = `job ${job} says in the end that it comes from ${told(lineage)}, and it comes from ${told(from)}`
  verdict.violated({ kind: 'other-lineage', subject: job, message })
}

function same(a: Lineage | null, b: Lineage | null): boolean {
  return a?.root === b?.root && a?.parent === b?.parent && a?.replays === b?.replays
}

function told(lineage: Lineage | null): string {
  return lineage === null ? 'nowhere' : `${lineage.parent}, as replay ${lineage.replays} of ${lineage.root}`
}
