import type { RenewReply } from '../ports/store.ts'
import type { RestState } from '../rest-state.ts'
import { heartbeatMsFor } from '../settings.ts'
import { createAlarm } from './alarm.ts'
import type { Attempt } from './attempt.ts'
import type { Deadlines } from './deadlines.ts'
import type { Held, HeldClaim } from './held.ts'
import { marginLeft } from './measures.ts'
import type { WorkerParts } from './parts.ts'
import { createStallNotice } from './stall.ts'

/** The heartbeat pump: renews all claims of this process in one statement, and tells each attempt what became of it. */
export interface Heartbeat {
  /** Called when a claim is sent, and when it is answered: it is due a renewal from its sending on. */
  due(claim: HeldClaim): void
  /** Beats now if that is overdue, though its timer had no turn yet. */
  look(): void
  /** What blocked the loop may be over, and an attempt settled, before the heartbeat has its turn. */
  noticeStall(): void
  readonly failuresInARow: number
  /** Resolves when no renewal is in flight. */
  stop(): Promise<void>
  atRest(): RestState
}

export function createHeartbeat(parts: WorkerParts, held: Held, deadlines: Deadlines): Heartbeat {
  const { clock, intervals, store, worker, ask } = parts
  const state = { failuresInARow: 0, stopped: false }
  const stall = createStallNotice(parts, held)
  const alarm = createAlarm(clock, 'heartbeat', (lateMs) => {
    // Before a renewal is sent nothing may be called certain that was overslept.
    deadlines.look()
    stall.late(lateMs)
    stall.beaten()
    if (held.claims.size > 0) beating = beat()
  })
  let beating: Promise<void> | null = null

  function beatBy(atMs: number): void {
    if (!state.stopped && !beating) alarm.by(atMs)
  }

  async function beat(): Promise<void> {
    const sentAtMs = clock.monotonicMs()
    const named = [...held.claims.values()]
    // As of the sending: of an attempt that comes later the answer says nothing.
    const attempts = named.flatMap((claim) => [...claim.attempts])
    const tokens = named.map(({ token }) => token)
    try {
      const reply = await ask('claims.renew', store.claims.renew({ worker, tokens }))
      state.failuresInARow = 0
      marginLeft(parts, attempts)
      for (const claim of named) claim.sentAtMs = Math.max(claim.sentAtMs, sentAtMs)
      sortOut(attempts, reply.held)
    } catch {
      state.failuresInARow += 1
    }
    beating = null
    deadlines.watchAll()
    const { failuresInARow } = state
    beatBy(failuresInARow === 0 ? sentAtMs + beatMs() : clock.monotonicMs() + intervals.heartbeatRetryMs)
  }

  /** Tells each attempt what the renewal said of it; an attempt whose settle was sent does not listen. */
  function sortOut(attempts: readonly Attempt[], still: RenewReply['held']): void {
    const epochs = new Map(still.map(({ id, epoch }) => [id, epoch]))
    const cancelled = new Set(still.filter(({ cancel }) => cancel).map(({ id }) => id))
    for (const attempt of attempts) {
      const { spec, epoch } = attempt.job
      if (attempt.settleSent()) continue
      if (epochs.get(spec.id) !== epoch) {
        attempt.lost()
      } else if (deadlines.certain(attempt.claim, spec.leaseTtlMs)) {
        // Else the answer came so late that the lease may have lapsed again meanwhile.
        attempt.renewed()
        held.note(attempt)
        if (cancelled.has(spec.id)) attempt.cancel()
      }
    }
  }

  function beatMs(): number {
    return heartbeatMsFor(intervals, held.shortestTtlMs)
  }

  return {
    due: (claim) => beatBy(claim.sentAtMs + beatMs()),
    look: () => alarm.look(),
    noticeStall: () => stall.late(alarm.lateMs),
    get failuresInARow() {
      return state.failuresInARow
    },
    stop: async () => {
      state.stopped = true
      alarm.cancel()
      await beating
    },
    // How late it rings decides, too. How often it failed is but shown.
    atRest: () => (beating ? null : { dueAtMs: alarm.dueMs, stallTold: stall.told }),
  }
}
