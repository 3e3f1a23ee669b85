import { type JobRecord, isTerminal } from '../engine/jobs/record.ts'
import { defaultIntervals } from '../engine/settings.ts'
import { epochMs } from './clock/node-clock.ts'
import type { Scenario, WorkStep } from './scenarios/scenario.ts'
import type { World } from './world.ts'

/**
 * Within how long after healing every job must have ended: the slowest job by itself, and the work of all
 * jobs shared among the slots. Generous on purpose: it tells "late" from "never".
 */
export function convergenceBoundMs(
  jobs: readonly JobRecord[],
  steps: readonly WorkStep[],
  scenario: Scenario,
  world: World,
): number {
  const { sweepMs, pollMsMax, abandonMs } = { ...defaultIntervals, ...scenario.intervals }
  const databaseNowMs = epochMs + world.nowMs + world.database.aheadMs
  const stored = new Set(jobs.map(({ spec }) => spec.id))
  const burdens = [
    ...jobs.filter(({ state }) => !isTerminal(state)).map((job) => burdenOf(job, databaseNowMs, abandonMs)),
    ...steps
      .filter(({ options }) => !stored.has(options.id))
      .map((step) => burdenAhead(step, world, abandonMs)),
  ]
  const slowestMs = Math.max(0, ...burdens.map(({ waitMs, workMs }) => waitMs + workMs))
  const workMs = burdens.reduce((sum, burden) => sum + burden.workMs, 0)
  const sharedMs = workMs / (scenario.workers * scenario.concurrency)
  const graceMs = Math.max(30_000, ...burdens.map(({ leaseTtlMs }) => leaseTtlMs)) + 2 * sweepMs
  return Math.ceil(slowestMs + sharedMs + graceMs + 2 * sweepMs + pollMsMax)
}

/** What one job may still take: until it can be claimed, and from then on in a slot or between two attempts. */
interface Burden {
  readonly waitMs: number
  readonly workMs: number
  readonly leaseTtlMs: number
}

function burdenOf(
  { spec, visibleAtMs, failures, evictions }: JobRecord,
  nowMs: number,
  abandonMs: number,
): Burden {
  const returns = spec.maxAttempts - failures + (spec.maxEvictions - evictions)
  return {
    waitMs: Math.max(0, (visibleAtMs ?? nowMs) - nowMs),
    workMs: returns * (Math.max(spec.leaseTtlMs, spec.timeoutMs + abandonMs) + Math.max(...spec.backoffMs)),
    leaseTtlMs: spec.leaseTtlMs,
  }
}

/** A producer asks again after at most so long; by then the store answers. */
const resendMs = 10_000

/** Of a job that is not stored yet: it has not come, or its producer has not been heard. */
function burdenAhead(
  { atMs, job: { settings }, options }: WorkStep,
  { nowMs, database: { aheadMs } }: World,
  abandonMs: number,
): Burden {
  const { delayMs = 0, runAt, leaseTtlMs = settings.leaseTtlMs, timeoutMs = settings.timeoutMs } = options
  const dueMs = runAt ? Math.max(0, runAt.getTime() - epochMs - nowMs - aheadMs) : delayMs
  const returns = settings.maxAttempts + settings.maxEvictions
  return {
    waitMs: Math.max(0, atMs - nowMs) + resendMs + dueMs,
    workMs: returns * (Math.max(leaseTtlMs, timeoutMs + abandonMs) + Math.max(...settings.backoffMs)),
    leaseTtlMs,
  }
}
