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
  const intervals = { ...defaultIntervals, ...scenario.intervals }
  const open = jobs.filter(({ state }) => !isTerminal(state))
  const unsent = steps.length - jobs.length
  const costs = open.map((job) => costMs(job, epochMs + world.nowMs))
  const slowestMs = Math.max(0, ...costs)
  const sharedMs = costs.reduce((sum, cost) => sum + cost, 0) / (scenario.workers * scenario.concurrency)
  const graceMs = Math.max(30_000, ...open.map(({ spec }) => spec.leaseTtlMs)) + 2 * intervals.sweepMs
  const unsentMs = unsent > 0 ? 600_000 : 0
  return Math.ceil(slowestMs + sharedMs + graceMs + unsentMs + 2 * intervals.sweepMs + intervals.pollMsMax)
}

/** Remaining delay + what each attempt that is left may take + the backoffs between them. */
function costMs({ spec, visibleAtMs, failures, evictions }: JobRecord, nowMs: number): number {
  const delayMs = Math.max(0, (visibleAtMs ?? nowMs) - nowMs)
  const returns = spec.maxAttempts - failures + (spec.maxEvictions - evictions)
  const attemptMs = Math.max(spec.leaseTtlMs, spec.timeoutMs)
  return delayMs + returns * (attemptMs + Math.max(...spec.backoffMs))
}
