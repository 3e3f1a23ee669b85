import { InvalidArgument } from '../../engine/errors.ts'
import { isThenable } from '../../engine/jobs/thenable.ts'
import { confirmed, meant } from '../../engine/jobs/transitions.ts'
import type { ConfirmReply, JobEpoch, TransactParams, TransactReply } from '../../engine/ports/store.ts'
import type { Connection } from './connection.ts'
import { movingJob, putMoved } from './moving.ts'
import { settle } from './settle.ts'
import type { Operation } from './statements.ts'

/** One write transaction on the store's handle, which is what `work` gets. Nothing in it can be awaited. */
export function transact(connection: Connection, params: TransactParams): TransactReply {
  let undone: TransactReply | null = null
  try {
    return connection.write((operation) => {
      const reply = transacted(connection, operation, params)
      if (reply.kind === 'committed') return reply
      undone = reply
      // Nothing else undoes what was written.
      throw new Error('rolled back')
    })
  } catch (error) {
    if (undone) return undone
    throw error
  }
}

function transacted(
  { driver }: Connection,
  operation: Operation,
  { id, epoch, seq, work }: TransactParams,
): TransactReply {
  const worked = work(driver)
  if (isThenable(worked)) {
    return refused('on SQLite what is committed must be synchronous, and so must be a codec')
  }
  if ('thrown' in worked) return { kind: 'thrown', error: worked.thrown }
  if (!driver.inTransaction) return refused('what is committed must not end its transaction by itself')
  const outcome = { kind: 'succeeded', result: worked.result } as const
  const settlement = {
    id,
    epoch,
    outcome,
    repeated: false,
    ...(seq !== undefined && { claimed: { token: null, seq } }),
  }
  const { results } = settle(operation, { worker: '', settlements: [settlement] })
  return { kind: results[0]?.settled === 'applied' ? 'committed' : 'lost' }
}

function refused(message: string): TransactReply {
  return { kind: 'thrown', error: new InvalidArgument(`${message}: nothing was committed`) }
}

/** Writers come one after another here, so that a transaction in flight is either whole or not begun. */
export function confirm(operation: Operation, params: JobEpoch): ConfirmReply {
  const there = meant(movingJob(operation, params.id), params.seq)
  const { kind, job } = confirmed(there, params, operation.nowMs)
  if (job) putMoved(operation, job)
  return { kind, state: (job ?? there)?.state ?? null }
}
