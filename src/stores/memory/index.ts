import { meant, settled } from '../../engine/jobs/transitions.ts'
import type { InspectableStore, QueueAge, SettleParams, SettleReply } from '../../engine/ports/store.ts'
import { systemClock } from '../../engine/system.ts'
import { InvalidArgument, InvalidConfig } from '../../engine/errors.ts'
import { requireKnown, requireObject } from '../../engine/given.ts'
import { type ResilientOptions, resilient } from '../resilient.ts'
import * as attempts from './attempts.ts'
import * as claims from './claims.ts'
import * as commands from './commands.ts'
import { type Content, copyOf, createContent, dumpOf, put } from './content.ts'
import { confirm, transact } from './commits.ts'
import * as control from './control.ts'
import * as deadLetters from './dead-letters.ts'
import { insert } from './insert.ts'
import * as logs from './logs.ts'
import * as named from './named.ts'
import * as queries from './queries.ts'
import { outcomes } from './outcomes.ts'
import * as recovery from './recovery.ts'
import * as schedules from './schedules.ts'
import * as retention from './retention.ts'
import * as watch from './watch.ts'

/**
 * Jobs in this process's memory: for tests and examples, and the reference that the other stores are
 * compared with. What it holds ends with the process.
 */
export function memoryStore(options?: ResilientOptions): InspectableStore {
  if (options !== undefined) {
    requireObject('options', options, InvalidConfig)
    requireKnown('options', options, { callMs: true, clock: true }, InvalidConfig)
  }
  const clock = options?.clock ?? systemClock
  const raw = rawMemoryStore({ nowMs: () => clock.wallMs() })
  return { ...raw, ...resilient(raw, options) }
}

/** The bare store: one operation at a time, under the database time that `time` gives it. */
export function rawMemoryStore(time: { nowMs(): number }): InspectableStore {
  return transparentMemoryStore(time).store
}

/** The same, and what it holds, to be looked at and not touched. */
export function transparentMemoryStore(time: { nowMs(): number }): {
  readonly store: InspectableStore
  readonly content: () => Content
} {
  let content = createContent()
  const at = <P, R>(operation: (content: Content, params: P, nowMs: number) => R) => {
    return async (params: P): Promise<R> => operation(content, params, time.nowMs())
  }
  const store: InspectableStore = {
    name: 'memory',
    callMs: 5_000,
    jobs: {
      insert: at(insert),
      settle: at(settle),
      reclaim: at(recovery.reclaim),
      expireTimeouts: at(recovery.expireTimeouts),
      adopt: at(recovery.adopt),
      get: at(({ jobs }, { id }: { readonly id: string }) => jobs.get(id) ?? null),
      outcomes: at(outcomes),
      queueAges: at(queueAges),
      requestCancel: at(commands.requestCancel),
      retry: at(commands.retry),
      reschedule: at(commands.reschedule),
      progress: at(attempts.progress),
      checkpoint: at(attempts.checkpoint),
      checkpoints: at(attempts.checkpoints),
      repairDispatch: at(commands.repairDispatch),
    },
    claims: {
      claim: at(claims.claim),
      recover: at(claims.recover),
      renew: at(claims.renew),
      collect: at(claims.collect),
    },
    watch: { declare: at(watch.declare), move: at(watch.move) },
    leases: { acquire: at(named.acquire), renew: at(named.renew), release: at(named.release) },
    deadLetters: {
      list: at(deadLetters.list),
      replay: at(deadLetters.replay),
      discard: at(deadLetters.discard),
    },
    queries: { list: at(queries.list), counts: async () => queries.counts(content, time.nowMs()) },
    schedules: {
      put: at(schedules.put),
      remove: at(schedules.remove),
      get: at((content, { key }: { readonly key: string }) => content.schedules.get(key) ?? null),
      list: at(schedules.list),
      pause: at(schedules.pause),
      due: at(schedules.due),
      fire: at(schedules.fire),
    },
    logs: { append: at(logs.append), page: at(logs.page), tail: at(logs.tail) },
    control: { set: at(control.set), get: async () => content.control, restored: at(control.restored) },
    retention: { sweep: at(retention.sweep), sweepLeases: at(retention.sweepLeases) },
    commits: {
      transact: (params) => transact(content, params, () => time.nowMs()),
      confirm: at(confirm),
    },
    now: () => Promise.resolve(time.nowMs()),
    migrate: () => Promise.resolve({ from: 0, to: 0 }),
    close: () => Promise.resolve(),
    dump: () => Promise.resolve(dumpOf(content)),
    snapshot: () => Promise.resolve({ store: 'memory', content: copyOf(content) }),
    restore: async (snapshot) => {
      if (snapshot.store !== 'memory')
        throw new InvalidArgument(`this is a snapshot of a ${snapshot.store} store`)
      content = copyOf(snapshot.content as Content)
    },
    reset: async () => {
      content = createContent()
    },
  }
  return { store, content: () => content }
}

function queueAges(
  { ready }: Content,
  { queues }: { readonly queues: readonly string[] },
  nowMs: number,
): QueueAge[] {
  return queues.map((queue) => {
    const sinceMs = ready.earliestMs(queue)
    return { queue, oldestDueMs: sinceMs !== null && sinceMs <= nowMs ? nowMs - sinceMs : null }
  })
}

function settle(content: Content, { settlements }: SettleParams, nowMs: number): SettleReply {
  const results = settlements.map((settlement) => {
    const there = meant(content.jobs.get(settlement.id), settlement.claimed?.seq)
    const { settled: how, job } = settled(there, settlement, nowMs)
    if (job) put(content, job)
    return { settled: how, state: (job ?? there)?.state ?? null }
  })
  return { results }
}
