import { settled } from '../../engine/jobs/transitions.ts'
import type { SettleParams, SettleReply } from '../../engine/ports/store.ts'
import { movingJob, putMoved } from './moving.ts'
import type { Operation } from './statements.ts'

/** One job after another, in the order given: the write lock is held, so there is no order of rows to keep. */
export function settle(operation: Operation, { settlements }: SettleParams): SettleReply {
  const results = settlements.map((settlement) => {
    const there = movingJob(operation, settlement.id)
    const { settled: how, job } = settled(there, settlement, operation.nowMs)
    if (job) putMoved(operation, job)
    return { settled: how, state: (job ?? there)?.state ?? null }
  })
  return { results }
}
