import { InvalidArgument } from '../errors.ts'
import { shown } from '../given.ts'
import type { AttemptContext } from '../jobs/context.ts'
import { storableText } from '../jobs/text.ts'
import type { ClaimedJob } from '../ports/store.ts'
import { fenced } from './fenced.ts'
import type { WorkerParts } from './parts.ts'

/** What an attempt of a job says of how far it is. */
export function createProgress(
  { store, ask }: Pick<WorkerParts, 'store' | 'ask'>,
  job: ClaimedJob,
): AttemptContext<never>['progress'] {
  return async (percent, phase) => {
    if (!(typeof percent === 'number' && percent >= 0 && percent <= 100)) {
      throw new InvalidArgument(`progress is 0 to 100 percent, not ${shown(percent)}`)
    }
    if (phase !== undefined && typeof phase !== 'string') {
      throw new InvalidArgument(`a phase must be a string, not ${shown(phase)}`)
    }
    const told = {
      id: job.spec.id,
      epoch: job.epoch,
      seq: job.seq,
      // Without the sign of -0, which JSON does not keep.
      percent: percent + 0,
      phase: phase === undefined ? null : storableText(phase),
    }
    await fenced(job, ask('jobs.progress', store.jobs.progress(told)))
  }
}
