import { InvalidArgument } from '../engine/errors.ts'
import { rawMemoryStore } from '../stores/memory/index.ts'
import { families } from './faults/index.ts'
import type { StoreFactory } from './run.ts'
import { scenarios } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'

/** What a run is made of, by the names that a command or a replay file gives. All throw `InvalidArgument`. */

const stores: Readonly<Record<string, StoreFactory>> = { memory: rawMemoryStore }

export function storeNamed(name: string): StoreFactory {
  const store = Object.hasOwn(stores, name) ? stores[name] : undefined
  if (!store)
    throw new InvalidArgument(
      `there is no simulated store ${name}; there are ${Object.keys(stores).join(', ')}`,
    )
  return store
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
  const module = (await import(url)) as { readonly default?: Scenario | readonly Scenario[] }
  const given = module.default
  const list =
    given === undefined ? [] : Array.isArray(given) ? (given as readonly Scenario[]) : [given as Scenario]
  if (list.length === 0 || !list.every(isScenario)) {
    throw new InvalidArgument(`${url} must export a scenario, or a list of them, as its default`)
  }
  return list
}

function isScenario(value: unknown): value is Scenario {
  const scenario = value as Partial<Scenario> | null
  return (
    typeof scenario?.name === 'string' &&
    typeof scenario.workload === 'function' &&
    Array.isArray(scenario.jobs)
  )
}

export function requireFamilies(names: readonly string[]): void {
  const known = families.map(({ name }) => name as string)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new InvalidArgument(`there is no fault family ${unknown.join(', ')}; there are ${known.join(', ')}`)
}
