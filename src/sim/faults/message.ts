import type { StoreCall } from '../../stores/policy.ts'
import { type Family, type FamilyName, pick } from './fault.ts'

/**
 * A request that never arrives, one that arrives too late, or a reply that never comes back although the
 * operation took effect. To the caller they look the same. The fault waits from its time on for the next such call of its node.
 */
const targets: readonly StoreCall[] = [
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

function message(name: FamilyName, says: string, lateMsMax: number): Family {
  return {
    name,
    says,
    most: 12,
    draw: ({ nodes, producers, forMs }, draw) => {
      const enqueue = draw(10, 'enqueue') === 0
      return {
        atMs: draw(forMs, 'at'),
        node: pick(enqueue ? producers : nodes, draw, 'node'),
        call: enqueue ? 'jobs.insert' : pick(targets, draw, 'call'),
        how: draw(2, 'how') === 0 ? 'reset' : 'silent',
        ...(lateMsMax > 0 && { lateMs: 200 + draw(lateMsMax, 'late') }),
      }
    },
    strike: (world, fault) => void world.nodeNamed(fault.node)?.armed.push(fault),
  }
}

export const lostRequest: Family = message('lost-request', 'a call never reaches the database', 0)
export const lostReply: Family = message('lost-reply', 'a call takes effect, its answer is lost', 0)
/** Longer than a store call may take, and than it takes to recover from one: it meets whatever came after it. */
export const lateRequest: Family = message(
  'late-request',
  'a call arrives when its caller has long given it up',
  40_000,
)
