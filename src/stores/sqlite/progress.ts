import type { Progress } from '../../engine/jobs/record.ts'
import type { Fenced, JobEpoch } from '../../engine/ports/store.ts'
import { runningState } from './rows.ts'
import type { Operation } from './statements.ts'

/** `progressed` of the transitions in one statement: a handler may say how far it is many times a second. */
const note = `update holdfast_job set progress = ?, version = version + 1, updated_at = ?
  where seq = (select seq from holdfast_body where id = ?) and state = ${runningState} and epoch = ?
  and seq = coalesce(?, seq)`

export function progress(operation: Operation, params: JobEpoch & Progress): Fenced {
  const { id, epoch, seq, percent, phase } = params
  const { changes } = operation
    .command(note)
    .run(JSON.stringify({ percent, phase }), operation.nowMs, id, epoch, seq ?? null)
  return { applied: changes === 1 }
}
