import { LeaseLost } from '../errors.ts'
import type { ClaimedJob, Fenced } from '../ports/store.ts'

/** Waits for a write that only the attempt which runs the job may make. Throws `LeaseLost` where it is another. */
export async function fenced({ spec, attempt }: ClaimedJob, write: Promise<Fenced>): Promise<void> {
  const { applied } = await write
  if (applied) return
  throw new LeaseLost(
    `attempt ${attempt} of job ${spec.id} may write nothing more: it has ended, or the job was taken over`,
  )
}
