import type { JobState } from '../engine/jobs/record.ts'
import { epochMs } from './clock/node-clock.ts'
import type { World } from './world.ts'

/** A world as it stands at one event: what each machine and the database would show to somebody who looks. */
export interface WorldState {
  readonly atMs: number
  readonly events: number
  readonly nodes: readonly NodeState[]
  readonly database: DatabaseState
}

export interface NodeState {
  readonly name: string
  readonly incarnation: number
  readonly is: 'dead' | 'paused' | 'blocked' | 'stopping' | 'up'
  /** What its engine says of itself; null: there is none. */
  readonly status: string | null
  readonly skewMs: number
  /** Handlers that run, as job and epoch. */
  readonly handlers: readonly { readonly job: string; readonly epoch: number }[]
  /** Leases that it cannot vouch for, and settlements that are not confirmed. */
  readonly uncertain: number
  readonly unsettled: number
  /** Faults that wait for a call of it. */
  readonly armed: readonly string[]
}

export interface DatabaseState {
  /** The fault that keeps it away; null: it is up. */
  readonly down: string | null
  readonly aheadMs: number
  readonly watch: { readonly seenSinceMs: number | null; readonly seenAtMs: number | null } | null
  readonly jobs: readonly {
    readonly id: string
    readonly state: JobState
    readonly epoch: number
    readonly attempt: number
    readonly failures: number
    readonly evictions: number
    /** Null: it does not wait. */
    readonly visibleAtMs: number | null
    /** Under which claim it runs, of whom, until when; null: it does not run. */
    readonly lease: {
      readonly token: string
      readonly worker: string | null
      readonly endsMs: number | null
    } | null
  }[]
}

/** Times are those of the run, from 0; of the database, by its own clock. */
export async function stateOf(world: World): Promise<WorldState> {
  const { jobs, claims, leases, watch } = await world.database.raw.dump()
  const { down, aheadMs } = world.database
  const inRun = (ms: number | null): number | null => (ms === null ? null : ms - epochMs)
  return {
    atMs: world.nowMs,
    events: world.recorder.events,
    nodes: world.nodes.map(nodeState),
    database: {
      down: down?.id ?? null,
      aheadMs,
      watch: watch && { seenSinceMs: inRun(watch.seenSinceMs), seenAtMs: inRun(watch.seenAtMs) },
      jobs: jobs.map(({ spec, token, visibleAtMs, ...job }) => ({
        id: spec.id,
        state: job.state,
        epoch: job.epoch,
        attempt: job.attempt,
        failures: job.failures,
        evictions: job.evictions,
        visibleAtMs: inRun(visibleAtMs),
        lease: token === null ? null : leaseOf(token, spec.leaseTtlMs),
      })),
    },
  }

  function leaseOf(token: string, ttlMs: number): DatabaseState['jobs'][number]['lease'] {
    const worker = claims.find((claim) => claim.token === token)?.worker ?? null
    const lease = leases.find((row) => row.token === token && row.ttlMs === ttlMs)
    return { token, worker, endsMs: inRun(lease?.expiresAtMs ?? null) }
  }
}

function nodeState({ name, incarnations, process, skewMs, armed }: World['nodes'][number]): NodeState {
  const health = process?.engine?.health() ?? null
  return {
    name,
    incarnation: incarnations,
    is: isOf(process),
    status: health?.status ?? null,
    skewMs,
    handlers: [...(process?.handlers ?? [])].map(({ job, epoch }) => ({ job, epoch })),
    uncertain: health?.running?.worker.heartbeat.uncertain ?? 0,
    unsettled: health?.running?.worker.settle.pending ?? 0,
    armed: armed.map(({ id, call }) => (call === undefined ? id : `${id} (${call})`)),
  }
}

function isOf(process: World['nodes'][number]['process']): NodeState['is'] {
  if (!process?.alive) return 'dead'
  if (process.blocked) return 'blocked'
  if (process.paused) return 'paused'
  return process.stopping ? 'stopping' : 'up'
}
