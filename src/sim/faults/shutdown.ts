import { shutDown } from '../node.ts'
import { type Family, pick } from './fault.ts'

/** A process is asked to stop in the middle of its work (a deploy), ends, and another takes its place. */
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
  }),
  strike: (world, fault) => {
    const node = world.nodeNamed(fault.node)
    const owner = node?.process
    if (!owner || owner.paused || owner.stopping) return
    world.struck(fault, owner)
    shutDown(world, owner, fault, () => {
      world.later(fault.forMs ?? 0, 'restart', () => world.start(node))
    })
  },
}
