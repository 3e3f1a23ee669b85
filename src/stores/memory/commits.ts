import { confirmed, meant, settled } from '../../engine/jobs/transitions.ts'
import { isThenable } from '../../engine/jobs/thenable.ts'
import type { ConfirmReply, JobEpoch, TransactParams, TransactReply } from '../../engine/ports/store.ts'
import { type Content, put } from './content.ts'

/**
 * There is nothing that a handler could write here, so `work` gets null, and what it does elsewhere is not undone where
 * the attempt has lost its job.
 */
export async function transact(
  content: Content,
  { id, epoch, seq, work }: TransactParams,
  nowMs: () => number,
): Promise<TransactReply> {
  const answer = work(null)
  const worked = isThenable(answer) ? await answer : answer
  if ('thrown' in worked) return { kind: 'thrown', error: worked.thrown }
  const outcome = { kind: 'succeeded', result: worked.result } as const
  const { settled: how, job } = settled(
    meant(content.jobs.get(id), seq),
    { id, epoch, outcome, repeated: false },
    nowMs(),
  )
  if (how !== 'applied') return { kind: 'lost' }
  if (job) put(content, job)
  return { kind: 'committed' }
}

export function confirm(content: Content, params: JobEpoch, nowMs: number): ConfirmReply {
  const there = meant(content.jobs.get(params.id), params.seq)
  const { kind, job } = confirmed(there, params, nowMs)
  if (job) put(content, job)
  return { kind, state: (job ?? there)?.state ?? null }
}
