import { StoreUnavailable } from '../../src/engine/errors.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import type { StoreCall } from '../../src/stores/policy.ts'

/**
 * What becomes of one call. `lose-request`: never arrives. `lose-reply`: takes effect, nobody hears of it.
 * `refuse`: known not to have been sent. `hang`: arrives when it is let go, and so does its reply.
 * `hang-reply`: takes effect at once, and the reply comes when it is let go. An error: what the store answers.
 */
type Fate = 'lose-request' | 'lose-reply' | 'refuse' | 'hang' | 'hang-reply' | Error

interface SeenCall {
  readonly call: StoreCall
  readonly params: unknown
  readonly atMs: number
}

/** A store behind a connection that does to calls what a test says. */
export interface Wire {
  readonly store: Store
  /** All calls in the order they were made. */
  readonly calls: readonly SeenCall[]
  /** The params of all calls of one method. */
  sent(call: StoreCall): readonly unknown[]
  /** Decides the fate of the next call of the method; more than one fate are those of the calls that follow. */
  next(call: StoreCall, ...fates: readonly Fate[]): void
  /** From now on everything is refused (or lost), until `up`. */
  down(fate?: 'refuse' | 'lose-request'): void
  up(): void
  /** Lets go of all calls that hang. */
  letGo(): void
  readonly hanging: number
}

export function wire(raw: Store, nowMs: () => number): Wire {
  const calls: SeenCall[] = []
  const fates = new Map<StoreCall, Fate[]>()
  let down: Fate | null = null
  let held: (() => void)[] = []

  const hold = (): Promise<void> => new Promise((resolve) => void held.push(resolve))

  function through<P, R>(call: StoreCall, run: (params: P) => Promise<R>): (params: P) => Promise<R> {
    return async (params) => {
      calls.push({ call, params, atMs: nowMs() })
      const fate = fates.get(call)?.shift() ?? down
      if (fate === null) return run(params)
      if (fate instanceof Error) throw fate
      if (fate === 'refuse') throw new StoreUnavailable(`${call} refused`, 'no')
      if (fate === 'lose-request') throw new StoreUnavailable(`${call} lost`, 'maybe')
      if (fate === 'hang') await hold()
      const reply = await run(params)
      if (fate === 'lose-reply') throw new StoreUnavailable(`reply of ${call} lost`, 'maybe')
      if (fate === 'hang-reply') await hold()
      return reply
    }
  }

  return {
    store: {
      name: raw.name,
      callMs: raw.callMs,
      jobs: {
        insert: through('jobs.insert', raw.jobs.insert),
        settle: through('jobs.settle', raw.jobs.settle),
        reclaim: through('jobs.reclaim', raw.jobs.reclaim),
        expireTimeouts: through('jobs.expireTimeouts', raw.jobs.expireTimeouts),
        adopt: through('jobs.adopt', raw.jobs.adopt),
        get: through('jobs.get', raw.jobs.get),
        queueAges: through('jobs.queueAges', raw.jobs.queueAges),
        requestCancel: through('jobs.requestCancel', raw.jobs.requestCancel),
        retry: through('jobs.retry', raw.jobs.retry),
        reschedule: through('jobs.reschedule', raw.jobs.reschedule),
        progress: through('jobs.progress', raw.jobs.progress),
        outcomes: through('jobs.outcomes', raw.jobs.outcomes),
        checkpoint: through('jobs.checkpoint', raw.jobs.checkpoint),
        checkpoints: through('jobs.checkpoints', raw.jobs.checkpoints),
        repairDispatch: through('jobs.repairDispatch', raw.jobs.repairDispatch),
      },
      claims: {
        claim: through('claims.claim', raw.claims.claim),
        recover: through('claims.recover', raw.claims.recover),
        renew: through('claims.renew', raw.claims.renew),
        collect: through('claims.collect', raw.claims.collect),
      },
      watch: {
        declare: through('watch.declare', raw.watch.declare),
        move: through('watch.move', raw.watch.move),
      },
      leases: {
        acquire: through('leases.acquire', raw.leases.acquire),
        renew: through('leases.renew', raw.leases.renew),
        release: through('leases.release', raw.leases.release),
      },
      control: {
        set: through('control.set', raw.control.set),
        get: () => through('control.get', raw.control.get)(undefined),
        restored: through('control.restored', raw.control.restored),
      },
      retention: {
        sweep: through('retention.sweep', raw.retention.sweep),
        sweepLeases: through('retention.sweepLeases', raw.retention.sweepLeases),
      },
      queries: {
        list: through('queries.list', raw.queries.list),
        counts: () => through('queries.counts', raw.queries.counts)(undefined),
      },
      schedules: {
        put: through('schedules.put', raw.schedules.put),
        remove: through('schedules.remove', raw.schedules.remove),
        get: through('schedules.get', raw.schedules.get),
        list: through('schedules.list', raw.schedules.list),
        pause: through('schedules.pause', raw.schedules.pause),
        due: through('schedules.due', raw.schedules.due),
        fire: through('schedules.fire', raw.schedules.fire),
      },
      deadLetters: {
        list: through('deadLetters.list', raw.deadLetters.list),
        replay: through('deadLetters.replay', raw.deadLetters.replay),
        discard: through('deadLetters.discard', raw.deadLetters.discard),
      },
      logs: {
        append: through('logs.append', raw.logs.append),
        page: through('logs.page', raw.logs.page),
        tail: through('logs.tail', raw.logs.tail),
      },
      ...(raw.commits && {
        commits: {
          transact: through('commits.transact', raw.commits.transact),
          confirm: through('commits.confirm', raw.commits.confirm),
        },
      }),
      now: () => through('now', raw.now)(undefined),
      migrate: raw.migrate,
      close: raw.close,
    },
    calls,
    sent: (call) => calls.filter((seen) => seen.call === call).map(({ params }) => params),
    next: (call, ...more) => void fates.set(call, [...(fates.get(call) ?? []), ...more]),
    down: (fate = 'refuse') => {
      down = fate
    },
    up: () => {
      down = null
    },
    letGo: () => {
      const going = held
      held = []
      for (const go of going) go()
    },
    get hanging() {
      return held.length
    },
  }
}
