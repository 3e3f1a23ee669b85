import type { HistoryEvent } from '../engine/history.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

/** Asks engines how they are when it is worth knowing: at a turn of the watch, at a failure, after an outage. */
export function askHealth(world: World, { type, node, incarnation }: HistoryEvent): void {
  if (type === 'database.up') {
    for (const { works, process } of world.nodes) if (works) tell(world, process)
  } else if (type === 'watch.moved' || type === 'store.failed') {
    const process = world.nodeNamed(node)?.process ?? null
    if (process?.node.works && process.number === incarnation) tell(world, process)
  }
}

function tell(world: World, owner: Incarnation | null): void {
  if (!owner?.engine || owner.paused) return
  const { status, store, running } = owner.engine.health()
  world.recorder.happened(owner, {
    type: 'node.health',
    status,
    reachable: store.reachable,
    running: running?.worker.running ?? 0,
    slotsUsed: running?.worker.slotsUsed ?? 0,
    claims: running?.worker.heartbeat.claims ?? 0,
    uncertain: running?.worker.heartbeat.uncertain ?? 0,
  })
}
