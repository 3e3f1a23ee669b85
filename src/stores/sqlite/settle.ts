import { meant, settled } from '../../engine/jobs/transitions.ts'
import type { SettleParams, SettleReply, Settlement } from '../../engine/ports/store.ts'
import { movingJob, putMoved } from './moving.ts'
import { runningState, settleKinds, states } from './rows.ts'
import type { Operation } from './statements.ts'

/** In the order given: the write lock is held, so there is no order of rows to keep. */
export function settle(operation: Operation, { settlements }: SettleParams): SettleReply {
  return { results: settlements.map((settlement) => settleOne(operation, settlement)) }
}

/**
 * What `settled` of the transitions makes of a success, in one statement: nearly all settlements are that, and
 * without reading the job first they cost half. A success that it does not apply to goes the long way, where
 * the reason is found.
 */
const succeed = `update holdfast_job set state = ${states.indexOf('succeeded')}, version = version + 1, claim = null,
  updated_at = ?, finished_at = ?, settle_epoch = epoch, settle_kind = ${settleKinds.indexOf('succeeded')},
  result = ?, error = null
  where seq = (select seq from holdfast_body where id = ?) and state = ${runningState} and epoch = ?
  and seq = coalesce(?, seq)`

function settleOne(operation: Operation, settlement: Settlement): SettleReply['results'][0] {
  const { id, epoch, outcome, claimed } = settlement
  const { nowMs } = operation
  if (outcome.kind === 'succeeded') {
    const { changes } = operation
      .command(succeed)
      .run(nowMs, nowMs, outcome.result, id, epoch, claimed?.seq ?? null)
    if (changes === 1) return { settled: 'applied', state: 'succeeded' }
  }
  const there = meant(movingJob(operation, id), claimed?.seq)
  const { settled: how, job } = settled(there, settlement, nowMs)
  if (job) putMoved(operation, job)
  return { settled: how, state: (job ?? there)?.state ?? null }
}
