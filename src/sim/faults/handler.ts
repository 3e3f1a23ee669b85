import type { AttemptContext } from '../../engine/jobs/context.ts'
import { type Clock, sleep } from '../../engine/ports/clock.ts'
import { type Incarnation, crash } from '../node.ts'
import type { World } from '../world.ts'
import { type Family, type Fault, type HandlerFamily, pick } from './fault.ts'

/** A handler that does what no handler should, in place of its work: the next one that begins on the node. */
function handler(name: HandlerFamily, says: string, most: number): Family {
  return {
    name,
    says,
    most,
    draw: ({ nodes, forMs }, draw) => ({
      atMs: draw(forMs, 'at'),
      node: pick(nodes, draw, 'node'),
      forMs: 500 + draw(20_000, 'for'),
      nth: draw(1_000, 'nth'),
    }),
    strike: (world, fault) => void world.nodeNamed(fault.node)?.armed.push(fault),
  }
}

export const handlerThrowsOdd: Family = handler('handler-throws-odd', 'a handler throws what is no error', 3)
export const handlerHangs: Family = handler('handler-hangs', 'a handler hangs until its signal fires', 2)
export const handlerIgnoresSignal: Family = handler(
  'handler-ignores-signal',
  'a handler runs on for long, whatever its signal says, and writes when it is over',
  2,
)
export const handlerRejectsLate: Family = handler(
  'handler-rejects-late',
  'what a handler left behind rejects after it has returned, and ends the process',
  2,
)
export const handlerKills: Family = handler('handler-kills', 'a handler kills its process', 2)
export const handlerUnstorable: Family = handler(
  'handler-returns-unstorable',
  'a handler returns what the store will not take, whatever it is sent along with',
  3,
)
/** Such a result, as JSON text. */
export const unstorable = '"too much for the store"'

/** Runs in place of a handler that misbehaves; `next` is what it would have done, `instead` says that it does not. */
type Misbehaviour = (
  context: AttemptContext<unknown>,
  next: () => Promise<unknown>,
  instead: () => void,
) => Promise<unknown>

const doesItsWork: readonly Fault['family'][] = ['handler-rejects-late', 'handler-returns-unstorable']

/** What the handler that begins now does wrong; null for most. */
export function misbehaviourOf(world: World, owner: Incarnation, clock: Clock): Misbehaviour | null {
  const { armed } = owner.node
  if (armed.length === 0) return null
  const at = armed.findIndex(({ family }) => family.startsWith('handler-'))
  const fault = at < 0 ? undefined : armed.splice(at, 1)[0]
  if (!fault) return null
  world.struck(fault, owner)
  return (context, next, instead) => {
    if (!doesItsWork.includes(fault.family)) instead()
    return misbehave(world, owner, clock, fault, context, next)
  }
}

async function misbehave(
  world: World,
  owner: Incarnation,
  clock: Clock,
  fault: Fault,
  context: AttemptContext<unknown>,
  next: () => Promise<unknown>,
): Promise<unknown> {
  const { forMs = 0, nth = 0 } = fault
  switch (fault.family as HandlerFamily) {
    case 'handler-throws-odd':
      await context.sleep(forMs)
      throw oddities[nth % oddities.length]?.()
    case 'handler-hangs':
      await context.sleep(hangMs)
      return null
    case 'handler-returns-unstorable':
      await next()
      return JSON.parse(unstorable)
    case 'handler-ignores-signal':
      await sleep(clock, ignoreMs + forMs, 'sleep')
      await context.checkpoint('late', forMs).catch(() => {})
      return null
    case 'handler-rejects-late': {
      const value = await next()
      const node = owner.node
      world.schedule(owner, 1 + (nth % 60), 'rejection', () =>
        die(world, owner, () => world.start(node), forMs),
      )
      return value
    }
    case 'handler-kills':
      await context.sleep(forMs % 3_000)
      die(world, owner, () => world.start(owner.node), forMs)
      // A dead process goes on in our memory; nobody hears of it.
      await new Promise<never>(() => {})
  }
}

const hangMs = 3_600_000
/** Beside a timeout of two minutes: it returns before it is abandoned, or after. */
const ignoreMs = 120_500

function die(world: World, owner: Incarnation, restart: () => void, forMs: number): void {
  if (!owner.alive) return
  crash(world, owner)
  world.later(forMs, 'restart', restart)
}

const oddities: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => 'a text',
  () => 0,
  () => Symbol('odd'),
  () => 10n,
  () => Object.freeze({ code: 'PERMANENT_FAILURE' }),
  () => ({
    toString(): string {
      throw new TypeError('it cannot be printed')
    },
  }),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
]
