import { standStill } from '../node.ts'
import { type Family, pick } from './fault.ts'

/** Something keeps the event loop of a process busy. When it goes on, its timers come before its replies. */
export const blockedLoop: Family = {
  name: 'blocked-loop',
  says: "a process's event loop is blocked; when it goes on, timers fire before replies are read",
  most: 4,
  draw: ({ nodes, forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(nodes, draw, 'node'),
    forMs: 200 + draw(draw(2, 'long') === 0 ? 2 * leaseTtlMs : 8_000, 'for'),
  }),
  strike: (world, fault) => {
    const owner = world.nodeNamed(fault.node)?.process
    if (!owner || owner.paused) return
    world.struck(fault, owner)
    owner.blocked = true
    standStill(world, owner, fault.forMs ?? 0)
  },
}

/** The timers of a machine are early or late for a while, or those by which it ends attempts as good as never fire. */
export const timers: Family = {
  name: 'timers',
  says: 'the timers of a machine fire too early or too late for a while',
  most: 4,
  draw: ({ nodes, forMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(nodes, draw, 'node'),
    forMs: 2_000 + draw(60_000, 'for'),
    ...lateness(draw(3, 'which'), draw),
  }),
  strike: (world, fault) => {
    const node = world.nodeNamed(fault.node)
    if (!node?.process) return
    world.struck(fault, node.process, null, fault.forMs)
    const off = { lateMs: fault.lateMs ?? 0, only: fault.label ?? null }
    node.timers = off
    world.later(fault.forMs ?? 0, 'timers', () => {
      if (node.timers === off) node.timers = null
    })
  },
}

function lateness(
  which: number,
  draw: (bound: number, what: string) => number,
): { readonly lateMs: number; readonly label?: string } {
  if (which === 0) return { lateMs: -1 - draw(20, 'by') }
  if (which === 1) return { lateMs: 1 + draw(2_000, 'by') }
  return { lateMs: neverMs, label: 'timeout' }
}

const neverMs = 400_000
