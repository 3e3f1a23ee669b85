import type { Alike } from '../../../src/sim/explore/audit.ts'
import { databaseOf } from '../../../src/sim/explore/database.ts'
import { type Explored, type ExploreOptions, explore } from '../../../src/sim/explore/explore.ts'
import { Portrait, Texts } from '../../../src/sim/explore/portrait.ts'
import { intervals, nap } from '../../../src/sim/explore/topologies/common.ts'
import type { Topology } from '../../../src/sim/explore/topology.ts'
import type { Content } from '../../../src/stores/memory/content.ts'

/** One worker and one short job, no faults. */
export function small(over: Partial<Topology> = {}): Topology {
  return {
    name: 'small',
    says: 'one worker, one job',
    workers: 1,
    sweepers: 0,
    concurrency: 1,
    intervals,
    jobs: [nap],
    work: [{ atMs: 0, job: nap, input: { forMs: 2_000 }, options: { id: 'j1' } }],
    horizonMs: 16_000,
    faults: [],
    properties: [],
    deviations: 1,
    ...over,
  }
}

export interface Reached {
  readonly explored: Explored
  /** What the database was seen to hold, times counted from then. */
  readonly databases: ReadonlySet<string>
  /** The identities of the states that were walked on from. */
  readonly states: ReadonlySet<string>
  readonly alike: readonly Alike[]
}

export async function reached(
  topology: Topology,
  options: Omit<ExploreOptions, 'topology' | 'met' | 'alike'> = {},
): Promise<Reached> {
  const portrait = new Portrait(new Texts())
  const databases = new Set<string>()
  const states = new Set<string>()
  const alike: Alike[] = []
  const explored = await explore({
    statesMax: 2 ** 18,
    schedulesMax: 2 ** 17,
    ...options,
    topology,
    alike: (one) => alike.push(one),
    met: ({ nowMs }, content, key) => {
      databases.add(digestOf(portrait, content, nowMs))
      states.add(key.join(' '))
    },
  })
  return { explored, databases, states, alike }
}

function digestOf(portrait: Portrait, content: Content, nowMs: number): string {
  databaseOf(content, portrait.reset())
  const names: string[] = []
  for (const atMs of portrait.instants.splice(0)) portrait.number(atMs - nowMs)
  for (const name of portrait.names.splice(0)) {
    if (!names.includes(name)) names.push(name)
    portrait.mix(names.indexOf(name))
  }
  return [portrait.a, portrait.b, portrait.c, portrait.d].join(' ')
}

/** What is in the one and not in the other. */
export function beyond(one: ReadonlySet<string>, other: ReadonlySet<string>): string[] {
  return [...one].filter((item) => !other.has(item))
}
