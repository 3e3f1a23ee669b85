import { CommandRefused, StoreUnavailable } from '../../engine/errors.ts'
import type { WorldEvent } from '../clock/queue.ts'
import type { Fault } from '../faults/fault.ts'
import { Diverged } from '../chooser.ts'
import { familyNamed } from '../faults/index.ts'
import { stop } from '../faults/shutdown.ts'
import type { Message } from '../faults/wire.ts'
import { crash, standStill } from '../node.ts'
import { arrival } from '../database.ts'
import type { World } from '../world.ts'
import type { Deviation, FaultOption, Order, Topology } from './topology.ts'

/**
 * All ways in which the schedule may leave the default here. A message can be lost or delayed when it is next, a
 * process be struck just before one of its inputs, the database when a request reaches it.
 */
export function deviationsAt(world: World, { faults }: Topology, step: number): Deviation[] {
  const next = world.next()
  if (!next) return []
  const found: Deviation[] = []
  const others = sameInstant(world, next)
  for (let nth = 1; nth < others.length; nth++) found.push({ step, what: 'swap', nth })
  for (const option of faults) {
    if (strikes(option, next, world))
      found.push({
        step,
        what: 'fault',
        fault: faultOf(option, next, world, step),
        order: option.order ?? null,
      })
  }
  return found
}

/** Those that may go first, the next one first. What a dead process was to get does nothing. */
function sameInstant({ ahead }: World, next: WorldEvent): WorldEvent[] {
  const found: WorldEvent[] = []
  for (let k = ahead.length - 1; k >= 0; k--) {
    const event = ahead[k] as WorldEvent
    if (event.atMs > next.atMs) break
    if (event.live && (event.owner === null || event.owner.alive)) found.push(event)
  }
  return found
}

function strikes({ family, nodes, calls }: FaultOption, next: WorldEvent, world: World): boolean {
  const message = messageOf(next)
  if (calls && !(message && calls.includes(message.call))) return false
  switch (family) {
    case 'lost-request':
    case 'late-request':
      return message?.what === 'request' && isOne(nodes, message.owner.node.name)
    case 'database-restart':
    case 'outage-long':
    case 'operator':
      return message?.what === 'request' && world.database.down === null
    case 'lost-reply':
    case 'slow-reply':
      return message?.what === 'reply' && message.owner.alive && isOne(nodes, message.owner.node.name)
    default: {
      const { owner } = next
      return (
        owner !== null &&
        owner.alive &&
        !owner.paused &&
        !owner.stopping &&
        owner.node.works &&
        isOne(nodes, owner.node.name)
      )
    }
  }
}

function isOne(nodes: readonly string[] | undefined, name: string): boolean {
  return nodes === undefined || nodes.includes(name)
}

export function messageOf(event: WorldEvent): Message | null {
  const { about } = event
  return typeof about === 'object' ? (about as Message | null) : null
}

function faultOf(
  { family, forMs, lands }: FaultOption,
  next: WorldEvent,
  { nowMs }: World,
  step: number,
): Fault {
  const message = messageOf(next)
  const node = message?.owner.node.name ?? next.owner?.node.name
  return {
    id: `${family} at step ${step}`,
    family,
    atMs: Math.max(nowMs, next.atMs),
    ...(node !== undefined && { node }),
    ...(message && { call: message.call }),
    ...(forMs !== undefined && { forMs }),
    ...(lands !== undefined && { lands }),
    how: family === 'database-restart' || family === 'outage-long' ? 'reset' : 'silent',
  }
}

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

/** The producer's engine gives it, `inMs` from now; one that is refused or not answered is not given again. */
export function giveOrder(world: World, order: Order, inMs: number, fault: Fault | null = null): void {
  const owner = world.nodes[0]?.process
  const engine = owner?.engine
  if (!owner || !engine) return
  const given = (): Promise<unknown> => {
    if (fault) world.struck(fault, owner)
    const { command, job = '' } = order
    if (command === 'cancel') return engine.cancel(job)
    if (command === 'retry') return engine.retry(job)
    return command === 'hold' ? engine.hold() : engine.resume()
  }
  const refused = (error: unknown): void => {
    if (!(error instanceof CommandRefused || error instanceof StoreUnavailable)) world.fail(error)
  }
  world.schedule(
    owner,
    inMs,
    'order',
    () => void given().catch(refused),
    `${order.command} ${order.job ?? ''}`,
  )
}
