import { setPace } from '../node.ts'
import { type Family, pick } from './fault.ts'

const ppmMax = 10_000

/** A machine's clock runs fast or slow by up to 1 %: its monotonic time, its timers and its wall time alike. */
export const drift: Family = {
  name: 'drift',
  says: "a node's clock and timers run fast or slow by up to 1 %, for a while or for the whole run",
  most: 3,
  draw: ({ nodes, forMs }, draw) => ({
    atMs: draw(3, 'late') === 0 ? draw(forMs, 'at') : draw(10_000, 'at'),
    node: pick(nodes, draw, 'node'),
    driftPpm: draw(2 * ppmMax + 1, 'by') - ppmMax,
    forMs: draw(2, 'long') === 0 ? forMs : 10_000 + draw(300_000, 'for'),
  }),
  strike: (world, fault) => {
    const node = world.nodeNamed(fault.node)
    if (!node?.process) return
    world.struck(fault, node.process, null, fault.forMs)
    const rate = 1 + (fault.driftPpm ?? 0) / 1_000_000
    setPace(world, node, rate)
    world.later(fault.forMs ?? 0, 'undrift', () => {
      if (node.pace?.rate === rate) setPace(world, node, 1)
    })
  },
}
