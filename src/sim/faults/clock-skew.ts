import { type Family, pick } from './fault.ts'

const hourMs = 3_600_000

/** A machine's wall clock is wrong by up to an hour. Nothing may depend on it. */
export const clockSkew: Family = {
  name: 'clock-skew',
  says: "a node's clock is off by up to 60 minutes",
  most: 3,
  draw: ({ nodes, producers, forMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick([...nodes, ...producers], draw, 'node'),
    skewMs: draw(2 * hourMs + 1, 'skew') - hourMs,
  }),
  strike: (world, fault) => {
    const node = world.nodeNamed(fault.node)
    if (!node) return
    node.skewMs = fault.skewMs ?? 0
    world.struck(fault, node.process)
  },
}
