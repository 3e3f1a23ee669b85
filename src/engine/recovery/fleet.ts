import { InvalidConfig } from '../errors.ts'
import type { WorkerParts } from '../worker/parts.ts'

/** States this engine's sweep period to the store. Throws `InvalidConfig` where the fleet has another. */
export async function declared({
  store,
  intervals,
  ask,
}: Pick<WorkerParts, 'store' | 'intervals' | 'ask'>): Promise<{ readonly nowMs: number }> {
  const { sweepMs } = intervals
  const fleet = await ask('watch.declare', store.watch.declare({ sweepMs }))
  if (fleet.sweepMs === sweepMs) return fleet
  throw new InvalidConfig(
    `sweepMs is ${sweepMs} here but ${fleet.sweepMs} on this store; all engines of a store must agree on it`,
  )
}
