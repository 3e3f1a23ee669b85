import type { JobSpec } from '../engine/jobs/record.ts'
import type { PutSchedule } from '../engine/ports/schedules.ts'
import type { InsertParams, Store } from '../engine/ports/store.ts'
import { type ScheduleStep, keepSchedules } from './schedules.ts'
import type { Incarnation, SimNode } from './node.ts'
import type { World } from './world.ts'

/**
 * Two releases on one store, while a deploy goes on or is taken back. There is no older one to run yet, so the engine as
 * it is is the older of the two. A process of the newer one runs it too, and what such a release would add to what it
 * writes is added on the way to the store, in its own name: here, and nowhere in the engine.
 */
export interface Rolling {
  /** The schedules that a worker puts when it starts, as the code that is deployed with its release has them. */
  readonly puts: (newer: boolean) => readonly Pick<ScheduleStep, 'key' | 'does'>[]
}

export function isMixed({ nodes }: { readonly nodes: readonly Pick<SimNode, 'rolling'>[] }): boolean {
  return nodes.some(({ rolling }) => rolling !== null)
}

/** Of which release a process is, drawn when it starts. A producer stands for many: each request comes to another. */
export interface Release {
  readonly around: (store: Store) => Store
  /** Puts its schedules. */
  readonly started: () => void
}

export function releaseOf(world: World, owner: Incarnation): Release | null {
  const { node, number } = owner
  const { rolling, works } = node
  if (!rolling) return null
  const draw = (name: string): boolean => world.chooser.below(2, 'release', node.name, name, number) === 1
  const newer = works && draw('')
  if (works) world.recorder.happened(owner, { type: 'release.began', newer })
  return {
    around: (store) => newerAround(store, works ? () => newer : draw),
    started: () => {
      const { engine } = owner
      const steps = works ? rolling.puts(newer) : []
      if (engine)
        keepSchedules(
          world,
          { owner, engine },
          steps.map((step) => ({ ...step, atMs: 1 })),
        )
    },
  }
}

/** Around the port of a process: of what it inserts and puts, whatever `isNewer` says of its name is a newer one's. */
function newerAround(store: Store, isNewer: (name: string) => boolean): Store {
  const { jobs, schedules } = store
  return {
    ...store,
    jobs: { ...jobs, insert: (params) => jobs.insert(newerInsert(params, isNewer)) },
    schedules: {
      ...schedules,
      put: (params) => schedules.put(isNewer(params.key) ? newerPut(params) : params),
    },
  }
}

function newerInsert({ jobs, ...params }: InsertParams, isNewer: (name: string) => boolean): InsertParams {
  return {
    ...params,
    jobs: jobs.map(({ spec, due }) => ({ spec: isNewer(spec.id) ? newerSpec(spec) : spec, due })),
  }
}

/** At the top, and within what this release knows. */
function newerSpec(spec: JobSpec): JobSpec {
  const metadata: Readonly<Record<string, unknown>> = { ...spec.metadata, ahead: aheadOf(spec.id) }
  return { ...spec, ahead: aheadOf(spec.id), metadata: metadata as JobSpec['metadata'] } as JobSpec
}

function newerPut({ spec, ...params }: PutSchedule): PutSchedule {
  const ahead = aheadOf(params.key)
  const { trigger, job, ...said } = JSON.parse(spec) as { readonly trigger: object; readonly job: object }
  const newer = { ...said, trigger: { ...trigger, ahead }, job: { ...job, ahead }, ahead }
  return { ...params, spec: JSON.stringify(newer) }
}

/** What JSON can say, and a column of text cannot. */
function aheadOf(name: string): object {
  return { of: name, deep: [{ none: null, text: '\u0000é😀', n: -1.5e300 }, [], {}], '': true }
}
