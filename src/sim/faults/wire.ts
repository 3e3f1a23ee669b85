import { InvalidArgument } from '../../engine/errors.ts'
import type { QueueCounts } from '../../engine/ports/queries.ts'
import type { CommitStore, Control, SettleParams, Store, Worked } from '../../engine/ports/store.ts'
import type { StoreCall } from '../../stores/policy.ts'
import type { WitnessedTransact } from '../history-of.ts'
import { type Incarnation, standStill } from '../node.ts'
import type { World } from '../world.ts'
import type { Fault } from './fault.ts'
import { unstorable } from './handler.ts'
import { stop } from './shutdown.ts'

/**
 * The way from a node to the database: every call is a request, an execution on the raw store at the
 * database's time, and a reply. Here messages get lost; what a caller does then is `stores/resilient.ts`.
 */
const latencyMsMax = 20

/** What is on its way between a process and the database. */
export interface Message {
  readonly what: 'request' | 'reply'
  /** Who sent it, or is to get it. */
  readonly owner: Incarnation
  readonly call: StoreCall
  /** The parameters; of an answer the reply, or how it failed. */
  readonly content: unknown
  /** The connection on which it comes back: cut, if there are newer ones. Null: it fails anyway, or goes out. */
  readonly generation: number | null
}

export function createWire(world: World, owner: Incarnation): Store {
  const { database } = world
  const call = <P, R>(name: StoreCall, run: (store: Store, params: P) => Promise<R>) => {
    // They number the draws.
    let calls = 0
    return (params: P): Promise<R> => send(world, owner, name, run, params, ++calls)
  }
  return {
    name: database.raw.name,
    callMs: database.raw.callMs,
    jobs: {
      insert: call('jobs.insert', (store, params) => store.jobs.insert(params)),
      settle: call('jobs.settle', (store, params) => store.jobs.settle(params)),
      reclaim: call('jobs.reclaim', (store, params) => store.jobs.reclaim(params)),
      expireTimeouts: call('jobs.expireTimeouts', (store, params) => store.jobs.expireTimeouts(params)),
      adopt: call('jobs.adopt', (store, params) => store.jobs.adopt(params)),
      get: call('jobs.get', (store, params) => store.jobs.get(params)),
      outcomes: call('jobs.outcomes', (store, params) => store.jobs.outcomes(params)),
      queueAges: call('jobs.queueAges', (store, params) => store.jobs.queueAges(params)),
      requestCancel: call('jobs.requestCancel', (store, params) => store.jobs.requestCancel(params)),
      retry: call('jobs.retry', (store, params) => store.jobs.retry(params)),
      reschedule: call('jobs.reschedule', (store, params) => store.jobs.reschedule(params)),
      progress: call('jobs.progress', (store, params) => store.jobs.progress(params)),
      checkpoint: call('jobs.checkpoint', (store, params) => store.jobs.checkpoint(params)),
      checkpoints: call('jobs.checkpoints', (store, params) => store.jobs.checkpoints(params)),
      repairDispatch: call('jobs.repairDispatch', (store, params) => store.jobs.repairDispatch(params)),
    },
    claims: {
      claim: call('claims.claim', (store, params) => store.claims.claim(params)),
      recover: call('claims.recover', (store, params) => store.claims.recover(params)),
      renew: call('claims.renew', (store, params) => store.claims.renew(params)),
      collect: call('claims.collect', (store, params) => store.claims.collect(params)),
    },
    watch: {
      declare: call('watch.declare', (store, params) => store.watch.declare(params)),
      move: call('watch.move', (store, params) => store.watch.move(params)),
    },
    leases: {
      acquire: call('leases.acquire', (store, params) => store.leases.acquire(params)),
      renew: call('leases.renew', (store, params) => store.leases.renew(params)),
      release: call('leases.release', (store, params) => store.leases.release(params)),
    },
    retention: {
      sweep: call('retention.sweep', (store, params) => store.retention.sweep(params)),
      sweepLeases: call('retention.sweepLeases', (store, params) => store.retention.sweepLeases(params)),
    },
    control: {
      set: call('control.set', (store, params) => store.control.set(params)),
      get: () => call<null, Control>('control.get', (store) => store.control.get())(null),
      restored: call('control.restored', (store, params) => store.control.restored(params)),
    },
    queries: {
      list: call('queries.list', (store, params) => store.queries.list(params)),
      counts: () =>
        call<null, readonly QueueCounts[]>('queries.counts', (store) => store.queries.counts())(null),
    },
    schedules: {
      put: call('schedules.put', (store, params) => store.schedules.put(params)),
      remove: call('schedules.remove', (store, params) => store.schedules.remove(params)),
      get: call('schedules.get', (store, params) => store.schedules.get(params)),
      list: call('schedules.list', (store, params) => store.schedules.list(params)),
      pause: call('schedules.pause', (store, params) => store.schedules.pause(params)),
      due: call('schedules.due', (store, params) => store.schedules.due(params)),
      fire: call('schedules.fire', (store, params) => store.schedules.fire(params)),
    },
    deadLetters: {
      list: call('deadLetters.list', (store, params) => store.deadLetters.list(params)),
      replay: call('deadLetters.replay', (store, params) => store.deadLetters.replay(params)),
      discard: call('deadLetters.discard', (store, params) => store.deadLetters.discard(params)),
    },
    logs: {
      append: call('logs.append', (store, params) => store.logs.append(params)),
      page: call('logs.page', (store, params) => store.logs.page(params)),
      tail: call('logs.tail', (store, params) => store.logs.tail(params)),
    },
    ...(database.raw.commits && {
      commits: {
        transact: transactOver(
          call('commits.transact', (store, params) => commitsOf(store).transact(params)),
        ),
        confirm: call('commits.confirm', (store, params) => commitsOf(store).confirm(params)),
      },
    }),
    now: () => call<null, number>('now', (store) => store.now())(null),
    migrate: () => Promise.resolve({ from: 0, to: 0 }),
    close: () => Promise.resolve(),
  }
}

/**
 * Its statements are one message here: what a handler writes is on its way, or has landed, with all the rest. So is its
 * function, which runs when the message lands, whatever has become of its process. What it did is kept beside it.
 */
function transactOver(call: CommitStore['transact']): CommitStore['transact'] {
  return ({ work, ...params }) => {
    const ledger: WitnessedTransact = { ...params, worked: null, work: (tx) => note(work(tx)) }
    const note = (worked: Worked | Promise<Worked>): Worked | Promise<Worked> => {
      if (worked instanceof Promise) return worked.then((known) => (ledger.worked = known))
      ledger.worked = worked
      return worked
    }
    return call(ledger)
  }
}

function commitsOf({ commits }: Store): CommitStore {
  if (!commits) throw new TypeError('the store has lost an ability')
  return commits
}

function send<P, R>(
  world: World,
  owner: Incarnation,
  name: StoreCall,
  run: (store: Store, params: P) => Promise<R>,
  params: P,
  ordinal: number,
): Promise<R> {
  return new Promise((resolve, reject) => {
    // A dead process goes on in our memory until its promises are gone; it reaches nothing any more.
    if (!owner.alive) return
    const { database, recorder } = world
    const latencyMs = world.chooser.below(latencyMsMax * latencyMsMax, 'latency', owner.who, name, ordinal)
    const outMs = 1 + (latencyMs % latencyMsMax)
    const backMs = 1 + Math.floor(latencyMs / latencyMsMax)
    const answer = (how: () => void, outcome: string): void => {
      const message: Message = { what: 'reply', owner, call: name, content: outcome, generation: null }
      const arrived = (): void => {
        recorder.reply(owner, name, outcome)
        how()
      }
      world.schedule(owner, backMs, name, arrived, message)
    }
    const cut = (): void => answer(() => reject(database.errors.reset), 'reset')

    recorder.request(owner, name)
    if (owner.node.refused || database.down?.how === 'reset')
      return answer(() => reject(database.errors.refused), 'refused')
    const fault = takeFault(owner, name)
    if (fault?.family === 'shutdown') world.schedule(owner, 0, 'signal', () => stop(world, fault, owner))
    else if (fault) world.struck(fault, owner, name)
    if (fault?.family === 'pause-on-call') standStill(world, owner, fault.forMs ?? 0)
    const early = fault?.family === 'lost-request' || fault?.family === 'late-request'
    if (early && fault.how === 'reset') cut()
    if (fault?.family === 'lost-request') return

    // Connections of before end with a database that is replaced by another.
    const { restores } = database
    const isGone = (): boolean => database.restores !== restores
    const bad = name === 'jobs.settle' && isUnstorable(params as SettleParams)
    const landUnheard = (): void => {
      if (!isGone()) database.execute(owner, name, params, run).catch(world.fail)
    }
    const passLate = ({ lateMs = 0 }: Fault): void => database.arrives(lateMs, landUnheard)
    const refuse = (): void => {
      const [first, ...others] = (params as SettleParams).settlements
      if (first && others.length === 0)
        recorder.happened(owner, { type: 'settle.refused', job: first.id, epoch: first.epoch })
      reject(new InvalidArgument('a result is too much for the store (simulated)'))
    }

    const land = (): void => {
      const { down, generation } = database
      if (down?.how === 'stall') return database.hold(land)
      const away = down !== null && down.how !== 'read-only'
      const refusal = database.refusal(name)
      if (early) {
        if (!away && !refusal && !bad) landUnheard()
        return
      }
      if (away && down.family === 'partition' && down.call === name && !bad) return passLate(down)
      if (away) return down.how === 'reset' ? cut() : undefined
      if (refusal) return answer(() => reject(refusal), 'refused')
      if (fault?.family === 'aborted') return answer(() => reject(database.errors.aborted), 'aborted')
      if (bad) return answer(refuse, 'refused')
      void database.execute(owner, name, params, run).then((reply) => {
        if (fault?.family === 'pause-on-call' && fault.how === 'reset') return cut()
        if (fault?.family === 'lost-reply') return fault.how === 'reset' ? cut() : undefined
        const message: Message = { what: 'reply', owner, call: name, content: reply, generation }
        const arrived = (): void => {
          const whole = database.generation === generation
          recorder.reply(owner, name, whole ? 'ok' : 'reset')
          if (whole) resolve(reply)
          else reject(database.errors.reset)
        }
        const lateMs = fault?.family === 'slow-reply' ? (fault.lateMs ?? 0) : backMs
        world.schedule(owner, lateMs, name, arrived, message)
      }, reject)
    }
    const request: Message = { what: 'request', owner, call: name, content: params, generation: null }
    database.arrives(early ? (fault.lateMs ?? outMs) : outMs, land, request)
  })
}

/** Some result in it is what the store will not take. */
function isUnstorable({ settlements }: SettleParams): boolean {
  return settlements.some(({ outcome }) => outcome.kind === 'succeeded' && outcome.result === unstorable)
}

function takeFault(owner: Incarnation, name: StoreCall): Fault | undefined {
  const { armed } = owner.node
  if (armed.length === 0) return undefined
  const at = armed.findIndex((fault) => fault.call === name)
  return at < 0 ? undefined : armed.splice(at, 1)[0]
}
