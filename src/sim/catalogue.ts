import { InvalidArgument } from '../engine/errors.ts'
import { textOf } from '../engine/jobs/text.ts'
import { rawMemoryStore } from '../stores/memory/index.ts'
import { allFamilies, familyNamed } from './faults/index.ts'
import { problemOfProperties, problemOfServices } from './own.ts'
import { requireTopology } from './explore/check.ts'
import { isTopology, topologies } from './explore/topologies/index.ts'
import type { Topology } from './explore/topology.ts'
import { scenarios } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'
import type { OpenSimulated, Place } from './stores/simulated.ts'

/** What a run is made of, by the names that a command or a replay file gives. All throw `InvalidArgument`. */

/** Loaded when asked for: whoever simulates on memory need not have the driver of another store. */
const stores: Readonly<Record<string, () => Promise<OpenSimulated>>> = {
  memory: async () => async () => ({ open: rawMemoryStore, close: async () => {} }),
  sqlite: async () => {
    const { rawSqliteStore } = await import('../stores/sqlite/index.ts')
    return async () => ({ open: rawSqliteStore, close: async () => {} })
  },
  pglite: async () => (await import('./stores/pglite.ts')).openPglite,
  postgres: async () => (await import('./stores/postgres.ts')).openPostgres,
}

/**
 * Where the threads of a command have their tables; `tag` tells it from other commands on the server. Whoever
 * asked for it drops it.
 */
export async function placeFor(name: string, databaseUrl: string | undefined, tag: string): Promise<Place> {
  await storeNamed(name)
  if (name !== 'postgres') return { groundOf: () => null, drop: async () => {} }
  const { needsServer, placeOn } = await import('./stores/postgres.ts')
  if (databaseUrl === undefined || databaseUrl === '') throw new InvalidArgument(needsServer)
  return placeOn(databaseUrl, tag)
}

/** How to open the store of that name. */
export async function storeNamed(name: string): Promise<OpenSimulated> {
  const load = Object.hasOwn(stores, name) ? stores[name] : undefined
  if (!load)
    throw new InvalidArgument(
      `there is no simulated store ${name}; there are ${Object.keys(stores).join(', ')}`,
    )
  try {
    return await load()
  } catch (error) {
    const missing = (error as { readonly code?: unknown } | null)?.code === 'ERR_MODULE_NOT_FOUND'
    if (!missing) throw error
    throw new InvalidArgument(`the store ${name} needs a package that is not installed: ${textOf(error)}`)
  }
}

export function scenarioNamed(name: string, known: readonly Scenario[]): Scenario {
  const scenario = known.find((candidate) => candidate.name === name)
  if (!scenario) {
    throw new InvalidArgument(
      `there is no scenario ${name}; there are ${known.map((other) => other.name).join(', ')}`,
    )
  }
  return scenario
}

/** The scenarios of a user's module: its default export, one or several. */
export async function scenariosIn(url: string | null): Promise<readonly Scenario[]> {
  if (url === null) return scenarios
  const { default: given } = await imported(url)
  const all: readonly unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given]
  const list = all.filter((one) => !isTopology(one))
  if (all.length === 0) {
    throw new InvalidArgument(
      `${url} must export a scenario, a bench or a topology, or a list of them, as its default`,
    )
  }
  const names = new Set<string>()
  for (const scenario of list) {
    const problem = problemOf(scenario)
    if (problem !== null) throw new InvalidArgument(`${url} exports a scenario ${problem}`)
    names.add((scenario as Scenario).name)
  }
  if (names.size < list.length) throw new InvalidArgument(`${url} exports two scenarios of one name`)
  return list as readonly Scenario[]
}

/** A module of a user. Throws `InvalidArgument` with what it threw. */
export async function imported(url: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(url)) as { readonly default?: unknown }
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    throw new InvalidArgument(`${url} cannot be imported: ${what}`, { cause: error })
  }
}

/** The topologies that a module exports beside its scenarios, by default or in a list; of no module: ours. */
export async function topologiesIn(url: string | null): Promise<readonly Topology[]> {
  if (url === null) return topologies
  const { default: given } = await imported(url)
  const found = (Array.isArray(given) ? given : [given]).filter(isTopology)
  for (const topology of found) requireTopology(topology)
  const names = new Set(found.map(({ name }) => name))
  if (names.size < found.length) throw new InvalidArgument(`${url} exports two topologies of one name`)
  return found
}

/** What is wrong with it, after 'a scenario'; null for nothing. */
function problemOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return 'that is no object'
  const scenario = value as Partial<Record<keyof Scenario, unknown>>
  const { name, families: asked } = scenario
  if (typeof name !== 'string' || name === '') return 'without a name'
  for (const key of ['workers', 'concurrency', 'activeMs'] as const) {
    const figure = scenario[key]
    if (!Number.isSafeInteger(figure) || (figure as number) < 1)
      return `${name} whose ${key} is no whole number >= 1`
  }
  if (typeof scenario.workload !== 'function') return `${name} whose workload is no function`
  if (!Array.isArray(scenario.jobs)) return `${name} whose jobs are no list`
  if (!Array.isArray(asked)) return `${name} whose families are no list`
  if (typeof scenario.swarm !== 'boolean') return `${name} whose swarm is neither true nor false`
  const own = problemOfProperties(scenario.properties ?? []) ?? problemOfServices(scenario.services ?? [])
  if (own !== null) return `${name} whose ${own}`
  const unknown = asked.filter((family) => typeof family !== 'string' || !familyNamed(family))
  return unknown.length === 0
    ? null
    : `${name} with unknown fault families: ${unknown.join(', ')}; there are ${familyNames()}`
}

function familyNames(): string {
  return allFamilies.map(({ name }) => name).join(', ')
}

export function requireFamilies(names: readonly string[]): void {
  const unknown = names.filter((name) => !familyNamed(name))
  if (names.length > 0 && unknown.length === 0) return
  throw new InvalidArgument(`there is no fault family ${unknown.join(', ')}; there are ${familyNames()}`)
}
