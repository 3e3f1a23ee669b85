import type { StoreCall } from '../../stores/policy.ts'
import { type Family, pick } from './fault.ts'

/** A machine gets no connection to the database for a while; the others do. */
export const refusedConnection: Family = {
  name: 'refused-connection',
  says: 'a machine is refused every connection to the database for a while',
  most: 3,
  draw: ({ nodes, forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(nodes, draw, 'node'),
    forMs: 100 + draw(draw(3, 'long') === 0 ? 2 * leaseTtlMs : 8_000, 'for'),
  }),
  strike: (world, fault) => {
    const node = world.nodeNamed(fault.node)
    if (!node?.process) return
    world.struck(fault, node.process, null, fault.forMs)
    node.refused = fault
    world.later(fault.forMs ?? 0, 'accepted', () => {
      if (node.refused === fault) node.refused = null
    })
  },
}

/** The server stands still: what it is asked meanwhile hangs, and all of it lands when it goes on. */
export const stall: Family = {
  name: 'stall',
  says: 'the database stands still: calls hang, then all of them land',
  most: 3,
  draw: ({ forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    forMs: 500 + draw(draw(2, 'long') === 0 ? 2 * leaseTtlMs : 12_000, 'for'),
    how: 'stall',
  }),
  strike: (world, fault) => world.database.goDown(fault),
}

const passing: readonly StoreCall[] = [
  'watch.move',
  'watch.move',
  'claims.claim',
  'claims.renew',
  'jobs.settle',
]

/**
 * The network between the machines and the database fails. Of one kind of call the requests still come through,
 * when their callers have long given them up; nothing else does, and nobody is answered.
 */
export const partition: Family = {
  name: 'partition',
  says: 'nobody is answered; only the requests of one kind arrive, long after they were given up',
  most: 2,
  draw: ({ forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    forMs: 12_000 + draw(2 * leaseTtlMs, 'for'),
    how: 'silent',
    call: pick(passing, draw, 'call'),
    // Longer than a call may take, by the clock of any machine.
    lateMs: 6_000 + draw(3_000, 'late'),
  }),
  strike: (world, fault) => world.database.goDown(fault),
}
