import { pause, resume } from '../node.ts'
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
    pause(world, owner, fault.forMs ?? 0)
    world.later(fault.forMs ?? 0, 'resume', () => resume(world, owner))
  },
}
