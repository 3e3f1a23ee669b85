import { CommandRefused, StoreUnavailable } from '../../engine/errors.ts'
import type { Engine } from '../../engine/api.ts'
import type { Incarnation } from '../node.ts'
import type { World } from '../world.ts'
import { settledDeadLetters } from './dead-letters.ts'
import { type Family, type Fault, pick } from './fault.ts'

const commands: readonly NonNullable<Fault['command']>[] = [
  'cancel',
  'cancel',
  'cancel',
  'retry',
  'retry',
  'reschedule',
  'reschedule',
  'hold',
  'pause',
]

/**
 * An operator gives a command through a producer's engine, at a time that suits nobody: of jobs most often
 * to one that came lately. What is held or paused is let go later, at the latest at healing.
 */
export const operator: Family = {
  name: 'operator',
  says: 'an operator cancels, retries, moves or holds work at a bad moment',
  most: 12,
  draw: ({ producers, forMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(producers, draw, 'node'),
    command: pick(commands, draw, 'command'),
    nth: draw(6, 'nth'),
    forMs: 200 + draw(30_000, 'for'),
    ...(draw(2, 'slow') === 0 && { readMs: draw(20_000, 'read') }),
  }),
  strike: (world, fault) => {
    const subject = subjectOf(world, fault)
    if (subject === undefined) return
    const owner = world.nodeNamed(fault.node)?.process
    if (!owner) return
    world.struck(fault, owner)
    const { command, forMs = 0 } = fault
    if (command !== 'hold' && command !== 'pause')
      return order(world, (engine) => told(world, engine, fault, subject))
    order(world, (engine) => (command === 'hold' ? engine.hold() : engine.pause(subject)))
    world.later(forMs, 'let-go', () =>
      order(world, (engine) => (command === 'hold' ? engine.resume() : engine.unpause(subject)), true),
    )
  },
}

/** Lets go of everything: what was held, and the queues that were paused. */
export function letGo(world: World): void {
  world.operator.over = true
  const { busy } = world.operator
  world.operator.busy = Promise.all([busy, settledDeadLetters(world)]).then(() => {})
  if (!world.strikes.has('operator')) return
  const queues = new Set(world.nodes.flatMap(({ queues }) => Object.keys(queues)))
  order(world, (engine) => engine.resume(), true)
  for (const queue of queues) order(world, (engine) => engine.unpause(queue), true)
}

/** A job, or a queue; undefined if there is none of which this could be asked. */
function subjectOf({ ledger, nodes }: World, { command, nth = 0 }: Fault): string | undefined {
  if (command === 'hold' || command === 'pause') {
    const queues = nodes.flatMap(({ queues }) => Object.keys(queues))
    return queues[nth % Math.max(1, queues.length)]
  }
  // Now and then of one of which it cannot be: a retry before its end, a cancel or a move after it.
  const stopped = (command === 'retry') !== (nth === 0 && ledger.stopped.size > 0)
  const jobs = [...(stopped ? ledger.stopped : ledger.open)]
  return jobs.at(-1 - (nth % Math.max(1, jobs.length)))
}

/** Commands name a version: the present one, or that which the operator read a while ago. */
async function told(
  world: World,
  engine: Engine,
  { command, forMs = 0, readMs }: Fault,
  job: string,
): Promise<unknown> {
  if (command === 'cancel') return engine.cancel(job)
  const read = readMs === undefined ? null : await engine.get(job)
  const owner = operatorOf(world)
  if (read && owner) {
    await new Promise<void>((resolve) => world.schedule(owner, readMs ?? 0, 'operator', resolve))
  }
  const at = read ? { version: read.version } : {}
  return command === 'retry' ? engine.retry(job, at) : engine.reschedule(job, { delayMs: forMs, ...at })
}

function operatorOf({ nodes }: World): Incarnation | null {
  return nodes.find(({ works }) => !works)?.process ?? null
}

const againMs = 1_000

/** One thing after the other, as one person does; `until` the store has answered, if it must be done. */
export function order(world: World, what: (engine: Engine) => Promise<unknown>, until = false): void {
  const owner = operatorOf(world)
  if (!owner?.engine) return
  const client = { owner, engine: owner.engine }
  const before = world.operator.busy
  world.operator.busy = attempt()

  async function attempt(): Promise<void> {
    await before
    if (world.operator.over && !until) return
    for (;;) {
      try {
        return void (await what(client.engine))
      } catch (error) {
        if (error instanceof CommandRefused) return
        if (!(error instanceof StoreUnavailable)) return world.fail(error)
        if (!until) return
        await new Promise<void>((resolve) => world.schedule(client.owner, againMs, 'operator', resolve))
      }
    }
  }
}
