import type { WorldEvent } from '../clock/queue.ts'
import type { Fault } from '../faults/fault.ts'
import type { Message } from '../faults/wire.ts'
import type { World } from '../world.ts'
import type { Deviation, FaultOption, Topology } from './topology.ts'

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
export function sameInstant({ ahead }: World, next: WorldEvent): WorldEvent[] {
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
