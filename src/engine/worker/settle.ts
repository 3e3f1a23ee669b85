import { StoreUnavailable } from '../errors.ts'
import type { Outcome } from '../jobs/record.ts'
import { storableText, textOf } from '../jobs/text.ts'
import type { Settled, Settlement } from '../ports/store.ts'
import type { Attempt } from './attempt.ts'
import { failureSettled } from './measures.ts'
import type { WorkerParts } from './parts.ts'
import { createWake } from './wake.ts'

/**
 * Settles finished attempts in groups: what finishes while a settle is in flight goes with the next. A
 * settlement is sent until its outcome is known; each repeat says that it is one.
 */
export interface Settler {
  readonly add: (attempt: Attempt, outcome: Outcome) => void
  /** Resolves when nothing is left to settle. */
  idle(): Promise<void>
  /** Sends nothing more; resolves when no settle is in flight. */
  stop(): Promise<void>
  report(): { pending: number; failuresInARow: number }
  /** Nothing is to be settled. */
  readonly atRest: boolean
}

const groupMax = 500

interface Pending {
  readonly attempt: Attempt
  readonly settlement: Settlement
  /** The store would not take its outcome. */
  readonly refused: boolean
}

export function createSettler(
  parts: WorkerParts,
  confirmed: (attempt: Attempt, settled: Settled) => void,
): Settler {
  const { clock, store, worker, intervals, ask } = parts
  const wake = createWake(clock)
  const state = { failuresInARow: 0, stopped: false }
  let pending: Pending[] = []
  let loop: Promise<void> | null = null

  async function run(): Promise<void> {
    // What ends in the same turn goes with the first.
    await Promise.resolve()
    while (pending.length > 0 && !state.stopped) {
      const group = pending.splice(0, groupMax).toSorted(byId)
      const left = await send(group)
      pending = [...left, ...pending]
      if (left.length > 0) await wake.wait(intervals.heartbeatRetryMs, 'settle-retry')
    }
    loop = null
  }

  /** Answers what must be sent again. */
  async function send(group: readonly Pending[]): Promise<readonly Pending[]> {
    if (state.stopped) return group
    const settlements = group.map(({ settlement }) => settlement)
    for (const { attempt } of group) attempt.markSettleSent()
    try {
      const { results } = await ask('jobs.settle', store.jobs.settle({ worker, settlements }))
      state.failuresInARow = 0
      for (const [k, { attempt, settlement }] of group.entries()) {
        const { settled, state: became } = results[k] ?? { settled: 'lost', state: null }
        if (settled === 'applied') failureSettled(parts, attempt.job, settlement.outcome, became)
        confirmed(attempt, settled)
      }
      return []
    } catch (error) {
      state.failuresInARow += 1
      if (error instanceof StoreUnavailable) return group.map((item) => again(item, error.sent))
      return refused(group, error)
    }
  }

  /**
   * The store will not take this group: find by halves the one it will not take, which fails for good instead.
   * Should the store not take even that, it is left to its lease.
   */
  async function refused(group: readonly Pending[], error: unknown): Promise<readonly Pending[]> {
    const half = group.length >> 1
    if (half > 0) return [...(await send(group.slice(0, half))), ...(await send(group.slice(half)))]
    const [item] = group
    if (!item) return []
    if (!item.refused) return send([unstorable(item, error)])
    confirmed(item.attempt, 'lost')
    return []
  }

  return {
    add: (attempt, outcome) => {
      if (state.stopped) return
      const { spec, epoch, seq } = attempt.job
      const claimed = { token: attempt.claim.token, seq }
      const settlement = { id: spec.id, epoch, outcome, repeated: false, claimed }
      pending.push({ attempt, settlement, refused: false })
      loop ??= run()
    },
    idle: async () => {
      while (loop) await loop
    },
    stop: async () => {
      state.stopped = true
      wake.wake()
      await loop
    },
    report: () => ({ pending: pending.length, failuresInARow: state.failuresInARow }),
    get atRest() {
      return loop === null
    },
  }
}

function again(item: Pending, sent: 'no' | 'maybe'): Pending {
  const { settlement } = item
  return { ...item, settlement: { ...settlement, repeated: settlement.repeated || sent === 'maybe' } }
}

/** What cannot be stored is as bad as what has no JSON form. */
function unstorable(item: Pending, refusal: unknown): Pending {
  const message = storableText(`the store will not take the outcome: ${textOf(refusal)}`)
  const outcome: Outcome = {
    kind: 'failed',
    error: { code: 'RESULT_INVALID', message },
    permanent: true,
    delayMs: 0,
  }
  return { ...item, settlement: { ...item.settlement, outcome, repeated: false }, refused: true }
}

function byId(a: Pending, b: Pending): number {
  const [x, y] = [a.settlement.id, b.settlement.id]
  return x < y ? -1 : x > y ? 1 : 0
}
