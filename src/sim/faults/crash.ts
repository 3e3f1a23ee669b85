import { crash } from '../node.ts'
import { type Family, pick } from './fault.ts'

/** A process dies and is started again later on the same machine, under the same name. */
export const crashFamily: Family = {
  name: 'crash',
  says: 'a worker process dies and comes back under the same host name',
  most: 6,
  draw: ({ nodes, forMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(nodes, draw, 'node'),
    forMs: 500 + draw(45_000, 'for'),
  }),
  strike: (world, fault) => {
    const node = world.nodeNamed(fault.node)
    if (!node?.process) return
    world.struck(fault, node.process)
    crash(world, node.process)
    world.later(fault.forMs ?? 0, 'restart', () => world.start(node), node.name)
  },
}
