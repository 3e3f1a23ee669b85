import { standStill } from '../node.ts'
import { messageCall } from './message.ts'
import { type Family, pick } from './fault.ts'

/** A process stands still (SIGSTOP, a suspended machine) and goes on as if nothing had happened: a zombie. */
export const pauseFamily: Family = {
  name: 'pause',
  says: 'a worker process stands still, often for longer than its leases',
  most: 6,
  draw: ({ nodes, forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(nodes, draw, 'node'),
    forMs: 500 + draw(4 * leaseTtlMs, 'for'),
  }),
  strike: (world, fault) => {
    const owner = world.nodeNamed(fault.node)?.process
    if (!owner || owner.paused) return
    world.struck(fault, owner)
    standStill(world, owner, fault.forMs ?? 0)
  },
}

/** It stands still at the worst moment: a call is on its way, and its answer is lost, or read when it wakes. */
export const pauseOnCall: Family = {
  name: 'pause-on-call',
  says: 'a worker process falls asleep over a call, whose answer is lost, or old when it is read',
  most: 4,
  draw: (place, draw) => ({
    atMs: draw(place.forMs, 'at'),
    node: pick(place.nodes, draw, 'node'),
    // The worst call to sleep over: its jobs are held by nobody who knows it.
    call: draw(2, 'over') === 0 ? 'claims.claim' : messageCall(place, draw),
    forMs: 500 + draw(3 * place.leaseTtlMs, 'for'),
    how: draw(2, 'how') === 0 ? 'reset' : 'silent',
  }),
  strike: (world, fault) => void world.nodeNamed(fault.node)?.armed.push(fault),
}
