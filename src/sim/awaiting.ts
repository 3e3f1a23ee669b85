import type { Engine } from '../engine/api.ts'
import { HoldfastError, JobFailed } from '../engine/errors.ts'
import type { EventOf } from '../engine/history.ts'
import { toJson } from '../engine/jobs/json.ts'
import { digest } from './hash.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

const hows: Readonly<Record<string, EventOf<'result.told'>['how']>> = {
  JOB_FAILED: 'failed',
  CANCELLED: 'cancelled',
  JOB_MISSING: 'missing',
  RESULT_TIMEOUT: 'timeout',
}

/** A producer waits for what becomes of a job, and tells the history what it was told. */
export function awaitResult(
  world: World,
  owner: Incarnation,
  engine: Engine,
  job: string,
  timeoutMs: number,
): void {
  const told = (how: EventOf<'result.told'>['how'], result: number, error: string | null): void =>
    world.recorder.happened(owner, { type: 'result.told', job, how, result, error })
  world.recorder.happened(owner, { type: 'result.awaited', job })
  engine.result(job, { timeoutMs }).then(
    (value) => told('value', digest(toJson(value)), null),
    (error: unknown) => {
      if (!(error instanceof HoldfastError)) return world.fail(error)
      told(hows[error.code] ?? 'other', 0, error instanceof JobFailed ? error.error.code : null)
    },
  )
}
