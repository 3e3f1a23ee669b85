import type { Backup } from '../database.ts'
import { type SimNode, crash, shutDown, standStill } from '../node.ts'
import type { World } from '../world.ts'
import { type Family, type Fault, pick } from './fault.ts'
import { order } from './operator.ts'

/**
 * The database is restored from a backup, by the book (docs/operations.md): all engines are stopped, it comes back as
 * it was, under hold, engines start, and when the operator has looked he says that it was restored. What he does not
 * find, because it stands still, he does not stop: one process sleeps through it, and goes on as if nothing had
 * happened. In the order of an operator's commands it is one, so that none of them lets go of the hold meanwhile.
 */
export const databaseRestored: Family = {
  name: 'database-restored',
  says: 'the database is restored from a backup, while a worker sleeps through it',
  most: 1,
  draw: ({ nodes, forMs }, draw) => ({
    // All of it is over before the faults are.
    atMs: draw(Math.ceil(forMs / 2), 'at'),
    node: pick(nodes, draw, 'node'),
    lossMs: 1_000 + draw(Math.ceil(forMs / 5), 'loss'),
    sleptMs: draw(12_000, 'slept'),
    // Now and then it wakes before the operator has said anything.
    sleepMs: draw(5, 'early') === 0 ? draw(30_000, 'sleep') : 45_000 + draw(60_000, 'sleep'),
    drainMs: draw(4_000, 'drain'),
    forMs: 500 + draw(15_000, 'for'),
    lookMs: draw(15_000, 'look'),
    how: draw(2, 'how') === 0 ? 'reset' : 'silent',
  }),
  strike: (world, fault) => {
    // One a run: two could overlap.
    if (world.database.backups > 0) return
    const { lossMs = 0, sleptMs = 0 } = fault
    const begin = (backup: Backup): void => {
      world.later(Math.max(0, lossMs - sleptMs), 'sleep', () => fallAsleep(world, fault))
      world.later(lossMs, 'restore', () => restore(world, fault, backup))
    }
    world.database.backUp().then(begin, world.fail)
  },
}

/** The one that has most to do, so that it has something to say when it wakes; this one where others have no more. */
function fallAsleep(world: World, { node, sleptMs = 0, sleepMs = 0 }: Fault): void {
  if (world.operator.over) return
  const most = ({ process }: SimNode): number => (process && !process.paused ? process.handlers.size : -1)
  const others = world.nodes.filter(({ works, name }) => works && name !== node)
  const drawn = world.nodeNamed(node)
  const [sleeper] = [...(drawn ? [drawn] : []), ...others].sort((a, b) => most(b) - most(a))
  if (sleeper?.process && most(sleeper) >= 0) standStill(world, sleeper.process, sleptMs + sleepMs)
}

/** The operator says it until he is answered: if he was not, it may begin one timeline more. */
function restore(world: World, fault: Fault, backup: Backup): void {
  let up: Promise<boolean> | null = null
  order(
    world,
    async (engine) => {
      up ??= cameUp(world, fault, backup)
      if (await up) await engine.resume({ restored: true })
    },
    true,
  )
}

/** False: the faults were over before it could begin. */
async function cameUp(world: World, fault: Fault, backup: Backup): Promise<boolean> {
  if (world.operator.over) return false
  await stopped(world, fault.drainMs ?? 0)
  await world.database.goBack(fault, backup)
  await passed(world, fault.forMs ?? 0)
  for (const node of world.nodes) if (node.works) world.start(node)
  await passed(world, fault.lookMs ?? 0)
  return true
}

/** Longer than any stop takes that is not held up. */
const graceMs = 10_000

/** All that heed it; what still runs when that takes too long is killed. */
async function stopped(world: World, drainMs: number): Promise<void> {
  const stops = world.nodes.flatMap(({ works, process }) => {
    if (!works || !process || process.paused || process.stopping) return []
    return [new Promise<void>((resolve) => shutDown(world, process, { drainMs }, resolve))]
  })
  await Promise.race([Promise.all(stops), passed(world, drainMs + graceMs)])
  for (const { works, process } of world.nodes) {
    if (works && process && !process.paused) crash(world, process)
  }
}

function passed(world: World, ms: number): Promise<void> {
  return new Promise((resolve) => void world.later(ms, 'operator', resolve))
}
