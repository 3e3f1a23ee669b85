import type { StoreCall } from '../../stores/policy.ts'
import { type Family, type FamilyName, type FaultPlace, pick } from './fault.ts'

/**
 * A request that never arrives, one that arrives too late, or a reply that never comes back although the
 * operation took effect. To the caller they look the same. The fault waits from its time on for the next such call of its node.
 */
/** A command that arrived long after it was given up would be one that nobody takes back. */
const lateOfProducers: readonly StoreCall[] = ['jobs.insert']
const ofProducers: readonly StoreCall[] = [
  ...lateOfProducers,
  'jobs.insert',
  'jobs.requestCancel',
  'jobs.retry',
  'control.set',
]
const ofWorkers: readonly StoreCall[] = [
  'claims.claim',
  'claims.claim',
  'claims.claim',
  'jobs.settle',
  'jobs.settle',
  'claims.renew',
  'claims.recover',
  'watch.move',
  'jobs.reclaim',
]
/** Asked for only where handlers or duties do: a fault that waits for one may wait in vain. */
const ofHandlers: readonly StoreCall[] = [
  'jobs.checkpoint',
  'jobs.checkpoints',
  'leases.acquire',
  'leases.renew',
]

/** Of handlers that commit: every third of the faults that wait for a call. */
const ofCommits: readonly StoreCall[] = ['commits.transact', 'commits.transact', 'commits.confirm']

/** Where there are schedules: a third of the faults that wait for a call. */
const ofSchedules: readonly StoreCall[] = ['schedules.fire', 'schedules.fire', 'schedules.due']
/** Where dead letters are replayed and discarded, which any process may do: every other of the faults that wait. */
const ofDeadLetters: readonly StoreCall[] = [
  'deadLetters.replay',
  'deadLetters.replay',
  'deadLetters.replay',
  'deadLetters.discard',
  'deadLetters.list',
  'jobs.get',
]

/** Where handlers log: every other one. */
const ofTalk: readonly StoreCall[] = ['logs.append', 'logs.append', 'logs.append', 'jobs.settle']

/** A call of a worker, mostly one that every worker makes. */
export function messageCall(
  { commits, schedules, talks }: Pick<FaultPlace, 'commits' | 'schedules' | 'talks'>,
  draw: (bound: number, what: string) => number,
): StoreCall {
  if (commits && draw(3, 'commits') === 0) return pick(ofCommits, draw, 'commit-call')
  if (schedules && draw(3, 'schedules') === 0) return pick(ofSchedules, draw, 'schedule-call')
  if (talks && draw(2, 'talks') === 0) return pick(ofTalk, draw, 'talk-call')
  return draw(8, 'handlers') === 0 ? pick(ofHandlers, draw, 'handler-call') : pick(ofWorkers, draw, 'call')
}

function message(name: FamilyName, says: string, lateMsMax: number, most = 12): Family {
  const ofProducer = name === 'late-request' ? lateOfProducers : ofProducers
  return {
    name,
    says,
    most,
    draw: (place, draw) => {
      const { nodes, producers, forMs } = place
      const how = draw(2, 'how') === 0 ? 'reset' : 'silent'
      const late = lateMsMax > 0 && { lateMs: 200 + draw(lateMsMax, 'late') }
      if (place.deadLetters && draw(2, 'dead-letters') === 0) {
        const node = pick([...producers, ...nodes], draw, 'node')
        return { atMs: draw(forMs, 'at'), node, call: pick(ofDeadLetters, draw, 'dead-call'), how, ...late }
      }
      if (place.restores && draw(4, 'restores') === 0) {
        const node = pick(producers, draw, 'node')
        return { atMs: draw(forMs, 'at'), node, call: 'control.restored', how, ...late }
      }
      const enqueue = draw(10, 'enqueue') === 0
      return {
        atMs: draw(forMs, 'at'),
        node: pick(enqueue ? producers : nodes, draw, 'node'),
        call: enqueue ? producerCall(place, ofProducer, draw) : messageCall(place, draw),
        how,
        ...late,
      }
    },
    strike: (world, fault) => void world.nodeNamed(fault.node)?.armed.push(fault),
  }
}

function producerCall(
  { talks }: FaultPlace,
  ofProducer: readonly StoreCall[],
  draw: (bound: number, what: string) => number,
): StoreCall {
  return talks && draw(2, 'waits') === 0 ? 'jobs.outcomes' : pick(ofProducer, draw, 'producer-call')
}

export const lostRequest: Family = message('lost-request', 'a call never reaches the database', 0)
export const lostReply: Family = message('lost-reply', 'a call takes effect, its answer is lost', 0)
/** Longer than a store call may take, and than it takes to recover from one: it meets whatever came after it. */
export const lateRequest: Family = message(
  'late-request',
  'a call arrives when its caller has long given it up',
  40_000,
)
/** A serialization failure or a deadlock (40001, 40P01): it is rolled back whole, and may be sent again at once. */
export const aborted: Family = message(
  'aborted',
  'a call is rolled back whole, by a serialization failure or a deadlock, and answered so',
  0,
)
/** Slower than a healthy call, within the bound of a call or beyond it. */
export const slowReply: Family = message(
  'slow-reply',
  'a call takes effect, and its answer takes seconds: sometimes too many',
  10_000,
  8,
)
