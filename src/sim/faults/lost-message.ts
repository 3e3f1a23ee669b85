import type { StoreCall } from '../../stores/policy.ts'
import { type Family, type FamilyName, pick } from './fault.ts'

/**
 * A request that never arrives, or a reply that never comes back although the operation took effect. To the
 * caller they look the same. The fault waits from its time on for the next such call of its node.
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

function lostMessage(name: FamilyName & `lost-${string}`, says: string): Family {
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
      }
    },
    strike: (world, fault) => void world.nodeNamed(fault.node)?.armed.push(fault),
  }
}

export const lostRequest: Family = lostMessage('lost-request', 'a call never reaches the database')
export const lostReply: Family = lostMessage('lost-reply', 'a call takes effect, its answer is lost')
