import type { WorkerParts } from '../worker/parts.ts'
import { declared } from './fleet.ts'
import { type ReconcilerParts, createReconciler } from './reconcile.ts'

/** One whole turn of recovery by itself. What it learns of the store's time is only as old as this call. */
export async function tick(
  parts: Omit<ReconcilerParts, 'lastReplyMs' | 'onReturned'> & Pick<WorkerParts, 'intervals'>,
  onReturned: () => void,
): Promise<void> {
  const { nowMs } = await declared(parts)
  await createReconciler({ ...parts, lastReplyMs: nowMs, onReturned }).turn(0)
}
