import { CommandRefused, StoreUnavailable } from '../../engine/errors.ts'
import { Diverged } from '../chooser.ts'
import type { WorldEvent } from '../clock/queue.ts'
import { arrival } from '../database.ts'
import type { Fault } from '../faults/fault.ts'
import { familyNamed } from '../faults/index.ts'
import { stop } from '../faults/shutdown.ts'
import { crash, standStill } from '../node.ts'
import type { World } from '../world.ts'
import { messageOf, sameInstant } from './deviations.ts'
import type { Deviation, Order } from './topology.ts'

/**
 * Brings a deviation about; answers the event that is to fire in this step, or null: none is. Where there is nothing
 * to bring about, the schedule is one of other code, and the run has failed with `Diverged`.
 */
export function deviate(world: World, deviation: Deviation): WorldEvent | null {
  const next = world.next() as WorldEvent
  if (deviation.what === 'swap') {
    const other = sameInstant(world, next)[deviation.nth]
    if (!other) world.fail(divergedAt(deviation, next))
    return other ?? null
  }
  if (!canStrike(deviation.fault, next)) {
    world.fail(divergedAt(deviation, next))
    return null
  }
  return strike(world, next, deviation)
}

/** Whether what the fault strikes is there, and called as it was. */
function canStrike({ node, call }: Fault, next: WorldEvent): boolean {
  const message = messageOf(next)
  return (message?.owner.node.name ?? next.owner?.node.name) === node && message?.call === call
}

function divergedAt(deviation: Deviation, { label, atMs }: WorldEvent): Diverged {
  const what = deviation.what === 'swap' ? 'another event of the instant' : deviation.fault.id
  return new Diverged(
    `diverged: the schedule leaves the default at step ${deviation.step} by ${what}, and there is none here, before ${label} at +${atMs / 1000}s; the code or the topology is not that of the recording`,
  )
}

function strike(
  world: World,
  next: WorldEvent,
  { fault, order }: Extract<Deviation, { readonly what: 'fault' }>,
): null {
  const message = messageOf(next)
  switch (fault.family) {
    case 'lost-request':
    case 'lost-reply':
      world.struck(fault, message?.owner ?? null, fault.call ?? null)
      next.live = false
      return null
    case 'late-request':
    case 'slow-reply': {
      const { forMs = 0 } = fault
      world.struck(fault, message?.owner ?? null, fault.call ?? null)
      next.live = false
      const delayMs = next.atMs - world.nowMs + forMs
      if (next.owner) world.schedule(next.owner, delayMs, next.label, next.fire, next.about)
      else world.later(delayMs, arrival, next.fire, next.about)
      return null
    }
    case 'pause': {
      const { owner } = next
      if (!owner) return null
      world.struck(fault, owner)
      standStill(world, owner, next.atMs - world.nowMs + (fault.forMs ?? 0))
      return null
    }
    case 'crash': {
      const { owner } = next
      if (!owner) return null
      world.struck(fault, owner)
      crash(world, owner)
      const { node } = owner
      world.later(next.atMs - world.nowMs + (fault.forMs ?? 0), 'restart', () => world.start(node), node.name)
      return null
    }
    case 'shutdown':
      if (next.owner) stop(world, fault, next.owner)
      return null
    case 'operator':
      if (order) giveOrder(world, order, next.atMs - world.nowMs, fault)
      return null
    default:
      familyNamed(fault.family)?.strike(world, fault)
      return null
  }
}

/** An engine is told, the producer's unless the order says which, `inMs` from now; one that is refused or not answered is not given again. */
export function giveOrder(world: World, order: Order, inMs: number, fault: Fault | null = null): void {
  const { command, job = '', through } = order
  const owner = (through === undefined ? world.nodes[0] : world.nodeNamed(through))?.process
  const engine = owner?.engine
  if (!owner || !engine) return
  const given = (): Promise<unknown> => {
    if (fault) world.struck(fault, owner)
    if (command === 'cancel') return engine.cancel(job)
    if (command === 'retry') return engine.retry(job)
    if (command === 'replay') return engine.deadLetters.replay(job)
    if (command === 'discard') return engine.deadLetters.discard(job)
    return command === 'hold' ? engine.hold() : engine.resume()
  }
  const refused = (error: unknown): void => {
    if (!(error instanceof CommandRefused || error instanceof StoreUnavailable)) world.fail(error)
  }
  world.schedule(owner, inMs, 'order', () => void given().catch(refused), `${command} ${job}`)
}
