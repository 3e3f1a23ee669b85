import {
  type HandledJob,
  type Handler,
  type JobOptions,
  defineJob,
} from '../../../../src/engine/jobs/definition.ts'
import type { Nap } from '../../../../src/sim/explore/topologies/common.ts'
import type { Topology } from '../../../../src/sim/explore/topology.ts'

const retry = { maxAttempts: 3, backoff: { kind: 'constant', delayMs: 1_000, jitter: false } } as const

/** A kind of job that naps as `nap` does, but for what is given. */
export function napping(
  name: string,
  over: Partial<JobOptions<Nap, Nap>> = {},
  run: Handler<Nap, unknown> = ({ input, sleep }) => sleep(input.forMs),
): HandledJob<Nap> {
  return defineJob<Nap>({ name, leaseTtlMs: 30_000, timeoutMs: 120_000, retry, ...over }).handle(run)
}

/** Its attempt may last as long as the longest schedule. */
export const steady: HandledJob<Nap> = napping('steady', { timeoutMs: 900_000 })

/** Evicted once, it is on its last eviction. */
export const last: HandledJob<Nap> = napping('last', { retry: { ...retry, maxEvictions: 2 } })

/** It sleeps beyond the horizon, unless it is said for how long. */
export function work(
  atMs: number,
  job: HandledJob<Nap>,
  id: string,
  forMs = 600_000,
): Topology['work'][number] {
  return { atMs, job, input: { forMs }, options: { id } }
}
