import { type Incarnation, shutDown } from '../node.ts'
import type { World } from '../world.ts'
import { type Family, type Fault, pick } from './fault.ts'

/**
 * A process is asked to stop in the middle of its work (a deploy), ends, and another takes its place. Some are
 * asked while a claim is in flight, some are asked twice.
 */
export const shutdown: Family = {
  name: 'shutdown',
  says: 'a worker process is stopped in the middle of its work, and another takes its place',
  most: 4,
  draw: ({ nodes, forMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(nodes, draw, 'node'),
    drainMs: draw(10_000, 'drain'),
    forMs: 200 + draw(10_000, 'for'),
    lingerMs: draw(4, 'lingers') === 0 ? draw(20_000, 'linger') : 0,
    ...(draw(3, 'over-claim') === 0 && { call: 'claims.claim' as const }),
    ...(draw(3, 'twice') === 0 && { againMs: draw(12_000, 'again') }),
  }),
  strike: (world, fault) => {
    const node = world.nodeNamed(fault.node)
    if (fault.call) node?.armed.push(fault)
    else if (node?.process) stop(world, fault, node.process)
  },
}

export function stop(world: World, fault: Fault, owner: Incarnation): void {
  if (!owner.alive || owner.paused || owner.stopping) return
  world.struck(fault, owner)
  owner.stoppedBy = fault
  shutDown(world, owner, fault, () => {
    world.later(fault.forMs ?? 0, 'restart', () => world.start(owner.node), owner.node.name)
  })
}
