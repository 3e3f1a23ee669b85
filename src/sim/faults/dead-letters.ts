import type { Engine } from '../../engine/api.ts'
import { CommandRefused, StoreUnavailable } from '../../engine/errors.ts'
import { type Incarnation, crash } from '../node.ts'
import type { World } from '../world.ts'
import { type Family, type Fault, pick } from './fault.ts'

const commands: readonly NonNullable<Fault['command']>[] = [
  'replay',
  'replay',
  'replay',
  'replay',
  'replay-all',
  'replay-all',
  'discard',
  'list-dead',
]

/**
 * Somebody replays or discards dead letters through the engine of a worker: often two at once, each through another,
 * of whom one may retry the job instead, and sometimes their process dies before it is answered. All of them are replayed through the first worker or a
 * producer alone, one call after the other, so that it can be told what such a call did.
 */
export const deadLetters: Family = {
  name: 'dead-letters',
  says: 'dead letters are replayed and discarded, by two at once, and by processes that die of it',
  most: 24,
  draw: ({ nodes, producers, forMs }, draw) => {
    const command = pick(commands, draw, 'command')
    const [first = '', ...others] = nodes
    const all = command === 'replay-all'
    const dies = draw(4, 'dies') === 0
    return {
      atMs: draw(forMs, 'at'),
      command,
      node: all ? pick([first, ...producers], draw, 'node') : pick(others, draw, 'node'),
      nth: draw(6, 'nth'),
      ...(all && { batch: 1 + draw(4, 'batch') }),
      ...(!all &&
        draw(2, 'twice') === 0 && { other: pick(others, draw, 'other'), retries: draw(3, 'retries') === 0 }),
      ...(dies && { diesMs: 1 + draw(80, 'dies-at'), forMs: 500 + draw(30_000, 'for') }),
    }
  },
  strike: (world, fault) => {
    const { command, nth = 0, node, other } = fault
    const jobs = [...world.ledger.dead]
    // Now and then one that is none any more.
    const stopped = nth === 0 ? [...world.ledger.stopped] : jobs
    const job = stopped.at(-1 - (nth % Math.max(1, stopped.length)))
    const owner = world.nodeNamed(node)?.process
    if (!owner?.engine || world.operator.over) return
    if (command === 'replay-all') return replayAll(world, owner, fault)
    if (command !== 'list-dead' && job === undefined) return
    world.struck(fault, owner)
    give(world, owner, command, job ?? '')
    const second = world.nodeNamed(other)?.process
    if (second && job !== undefined) give(world, second, fault.retries ? 'retry' : command, job)
    diesOf(world, owner, fault)
  },
}

/** At its own pace: a process that stands still gives it later. */
function give(world: World, owner: Incarnation, command: Fault['command'], job: string): void {
  const { engine } = owner
  if (engine) world.schedule(owner, 0, 'order', () => void tried(world, () => told(engine, command, job)))
}

function told(engine: Engine, command: Fault['command'], job: string): Promise<unknown> {
  const { deadLetters: letters } = engine
  if (command === 'retry') return engine.retry(job)
  if (command === 'list-dead') return letters.list({ limit: 1_000 })
  return command === 'discard' ? letters.discard(job) : letters.replay(job)
}

function replayAll(world: World, owner: Incarnation, fault: Fault): void {
  const { sweeping } = world.operator
  if (sweeping.has(owner.number)) return
  sweeping.add(owner.number)
  world.struck(fault, owner)
  const { batch = 1 } = fault
  world.schedule(owner, 0, 'order', () => {
    void allReplayed(world, owner, batch).then(() => sweeping.delete(owner.number))
  })
  diesOf(world, owner, fault)
}

async function allReplayed(world: World, owner: Incarnation, batch: number): Promise<void> {
  const { engine } = owner
  if (!engine) return
  world.recorder.happened(owner, { type: 'replay-all.began' })
  await tried(world, () => engine.deadLetters.replayAll({ batch, limit: 40 }))
  if (owner.alive) world.recorder.happened(owner, { type: 'replay-all.ended' })
}

/** A producer never dies here. */
function diesOf(world: World, owner: Incarnation, { diesMs, forMs = 0 }: Fault): void {
  const { node } = owner
  if (diesMs === undefined || !node.works) return
  world.later(diesMs, 'crash', () => {
    if (node.process !== owner) return
    crash(world, owner)
    world.later(forMs, 'restart', () => world.start(node), node.name)
  })
}

async function tried(world: World, what: () => Promise<unknown>): Promise<void> {
  try {
    await what()
  } catch (error) {
    if (!(error instanceof CommandRefused || error instanceof StoreUnavailable)) world.fail(error)
  }
}

/** Longer than any such call, and than a request that comes late: what is under way when the faults end is over then. */
const settleMs = 60_000

/**
 * When the faults are over: what is under way ends, and then a producer replays all there are once more. Once it
 * resolves, nothing of it goes on.
 */
export function settledDeadLetters(world: World): Promise<void> {
  const owner = world.nodes.find(({ works }) => !works)?.process
  if (!owner || !world.strikes.has('dead-letters')) return Promise.resolve()
  return new Promise((resolve) => {
    world.schedule(owner, settleMs, 'operator', () => void allReplayed(world, owner, 1).then(resolve))
  })
}
