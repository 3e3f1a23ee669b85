import { InvalidConfig, StoreUnavailable } from '../engine/errors.ts'
import { type Clock, type Timer } from '../engine/ports/clock.ts'
import type { SettleParams, Store } from '../engine/ports/store.ts'
import { systemClock } from '../engine/system.ts'
import { type AfterUnknown, type StoreCall, afterUnknown, backoffMs } from './policy.ts'

export interface ResilientOptions {
  /** Bound of one whole call, its repeats included; default 5,000. */
  readonly callMs?: number
  readonly clock?: Clock
}

/** The one place that repeats, confirms or refuses to repeat a failed call, as `policy.ts` says. */
export function resilient(store: Store, options: ResilientOptions = {}): Store {
  const clock = options.clock ?? systemClock
  const callMs = options.callMs ?? 5_000
  if (!Number.isSafeInteger(callMs) || callMs < 1) {
    throw new InvalidConfig(`callMs must be a whole number of ms >= 1, not ${callMs}`)
  }

  const plain = <P, R>(call: StoreCall, send: (params: P) => Promise<R>) => {
    return (params: P): Promise<R> => bounded(clock, callMs, call, () => send(params))
  }

  return {
    name: store.name,
    callMs,
    jobs: {
      insert: plain('jobs.insert', store.jobs.insert),
      settle: (params) =>
        bounded(clock, callMs, 'jobs.settle', (repeat) => store.jobs.settle(marked(params, repeat))),
      reclaim: plain('jobs.reclaim', store.jobs.reclaim),
      expireTimeouts: plain('jobs.expireTimeouts', store.jobs.expireTimeouts),
      adopt: plain('jobs.adopt', store.jobs.adopt),
      get: plain('jobs.get', store.jobs.get),
      outcomes: plain('jobs.outcomes', store.jobs.outcomes),
      queueAges: plain('jobs.queueAges', store.jobs.queueAges),
      requestCancel: plain('jobs.requestCancel', store.jobs.requestCancel),
      retry: plain('jobs.retry', store.jobs.retry),
      reschedule: plain('jobs.reschedule', store.jobs.reschedule),
      progress: plain('jobs.progress', store.jobs.progress),
      checkpoint: plain('jobs.checkpoint', store.jobs.checkpoint),
      checkpoints: plain('jobs.checkpoints', store.jobs.checkpoints),
      repairDispatch: plain('jobs.repairDispatch', store.jobs.repairDispatch),
    },
    claims: {
      claim: plain('claims.claim', store.claims.claim),
      recover: plain('claims.recover', store.claims.recover),
      renew: plain('claims.renew', store.claims.renew),
      collect: plain('claims.collect', store.claims.collect),
    },
    watch: {
      declare: plain('watch.declare', store.watch.declare),
      move: plain('watch.move', store.watch.move),
    },
    leases: {
      acquire: plain('leases.acquire', store.leases.acquire),
      renew: plain('leases.renew', store.leases.renew),
      release: plain('leases.release', store.leases.release),
    },
    control: {
      set: plain('control.set', store.control.set),
      get: () => bounded(clock, callMs, 'control.get', () => store.control.get()),
      restored: plain('control.restored', store.control.restored),
    },
    retention: {
      sweep: plain('retention.sweep', store.retention.sweep),
      sweepLeases: plain('retention.sweepLeases', store.retention.sweepLeases),
    },
    queries: {
      list: plain('queries.list', store.queries.list),
      counts: () => bounded(clock, callMs, 'queries.counts', () => store.queries.counts()),
    },
    schedules: {
      put: plain('schedules.put', store.schedules.put),
      remove: plain('schedules.remove', store.schedules.remove),
      get: plain('schedules.get', store.schedules.get),
      list: plain('schedules.list', store.schedules.list),
      pause: plain('schedules.pause', store.schedules.pause),
      due: plain('schedules.due', store.schedules.due),
      fire: plain('schedules.fire', store.schedules.fire),
    },
    deadLetters: {
      list: plain('deadLetters.list', store.deadLetters.list),
      replay: plain('deadLetters.replay', store.deadLetters.replay),
      discard: plain('deadLetters.discard', store.deadLetters.discard),
    },
    logs: {
      append: plain('logs.append', store.logs.append),
      page: plain('logs.page', store.logs.page),
      tail: plain('logs.tail', store.logs.tail),
    },
    ...(store.hints && { hints: store.hints }),
    ...(store.commits && {
      commits: {
        transact: plain('commits.transact', store.commits.transact),
        confirm: plain('commits.confirm', store.commits.confirm),
      },
    }),
    // A caller's transaction is the caller's: nothing in it is repeated, bounded or confirmed.
    ...(store.within && { within: store.within }),
    now: () => bounded(clock, callMs, 'now', () => store.now()),
    migrate: () => store.migrate(),
    close: () => store.close(),
  }
}

function marked(params: SettleParams, repeat: boolean): SettleParams {
  if (!repeat) return params
  return { ...params, settlements: params.settlements.map((item) => ({ ...item, repeated: true })) }
}

/** Sends until an answer, a failure that must not be repeated, or the bound; abandons what is then in flight. */
function bounded<R>(
  clock: Clock,
  callMs: number,
  call: StoreCall,
  send: (repeat: boolean) => Promise<R>,
): Promise<R> {
  const policy: AfterUnknown = afterUnknown[call]
  return new Promise((resolve, reject) => {
    const state = { over: false, inFlight: false, maybeSent: false, tries: 0 }
    let retry: Timer | null = null
    let cause: StoreUnavailable | null = null
    const timer = clock.timer(callMs, 'call-bound', () => {
      const sent = state.inFlight || state.maybeSent ? 'maybe' : 'no'
      // What the tries ended with is what tells a wrong address from a slow server.
      const why = cause === null ? '' : `, and failed before: ${cause.message}`
      const message = `${call} did not answer within ${callMs} ms${why}`
      fail(new StoreUnavailable(message, sent, ...(cause === null ? [] : [{ cause }])))
    })

    /** Answers whether the call was still open. */
    function close(): boolean {
      if (state.over) return false
      state.over = true
      timer.cancel()
      retry?.cancel()
      return true
    }

    function succeed(reply: R): void {
      if (close()) resolve(reply)
    }

    function fail(error: unknown): void {
      if (close()) reject(error)
    }

    function attempt(): void {
      state.inFlight = true
      try {
        send(state.maybeSent && policy === 'confirm').then(succeed, failed)
      } catch (error) {
        failed(error)
      }
    }

    function failed(error: unknown): void {
      state.inFlight = false
      if (state.over) return
      if (!(error instanceof StoreUnavailable)) return fail(error)
      cause = error
      if (error.sent === 'maybe') state.maybeSent = true
      if (state.maybeSent && policy === 'never') return fail(error)
      const waitMs = backoffMs[Math.min(state.tries, backoffMs.length - 1)] as number
      state.tries += 1
      retry = clock.timer(waitMs, 'call-retry', attempt)
    }

    attempt()
  })
}
