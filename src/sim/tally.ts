import { createHash } from './hash.ts'
import { databaseTimeOnly } from './metamorphic.ts'
import type { PropertyTally } from './recorder.ts'
import type { Judged } from './judge.ts'
import type { RunResult } from './run.ts'
import { createSaturation } from './saturation.ts'
import type { Property } from '../properties/property.ts'
import type { Ran } from './threads/pool.ts'

/** The sums over the runs of one command. Results may be added in any order; what it tells does not depend on it. */
export interface Summary {
  readonly seeds: number
  readonly events: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly faults: Readonly<Record<string, number>>
  readonly scenarios: Readonly<Record<string, number>>
  /** Evaluations of each property, `sometimes` too, in the runs in which each fault family struck. */
  readonly matrix: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** How many behaviours (see `coverage.ts`) were met, and how many of them each hundred seeds met first. */
  readonly coverage: { readonly behaviours: number; readonly newPerHundred: readonly number[] }
  readonly properties: readonly (Omit<PropertyTally, 'met' | 'needs' | 'own'> & {
    readonly reached: boolean
    readonly applicable: boolean
  })[]
  /** In the order of the seeds. */
  readonly failures: readonly Failure[]
  /** `always` never evaluated though they could have been, families asked for but never injected, `sometimes` never reached. */
  readonly vacuous: readonly string[]
  readonly unreached: readonly string[]
}

export interface Failure {
  readonly kind: 'violated' | 'nondeterministic' | 'diverged' | 'error' | 'livelock' | 'hung'
  readonly seed: string
  /** Null if it was left to the seed, and the run did not live to tell. */
  readonly scenario: string | null
  readonly property: string
  readonly message: string
  /** What a replay needs; null for a run that had to be killed. */
  readonly result: Judged | null
}

export interface Tally {
  add(index: number, ran: Ran): void
  readonly failures: number
  summary(): Summary
}

export interface TallyOptions {
  readonly properties: readonly Property[]
  /** The families that were asked for by name. */
  readonly asked: readonly string[]
  /** One seed is looked at, not a sample: nothing is expected of it. */
  readonly single: boolean
  /**
   * A part of what there is, or a user's scenarios: which of our situations those can bring about is not known here.
   */
  readonly partial?: boolean
}

/** From so many seeds on, something that never happened is a fault of the bench. */
const sometimesSeedsMin = 100

export function createTally({ properties, asked, single, partial = false }: TallyOptions): Tally {
  const hashes: string[] = []
  const failures: { index: number; failure: Failure }[] = []
  const faults: Record<string, number> = {}
  const scenarios: Record<string, number> = {}
  const tallies = new Map<string, PropertyTally>()
  const matrix = new Map<string, Record<string, number>>()
  const saturation = createSaturation()
  const sums = { seeds: 0, events: 0, simulatedMs: 0 }
  const relation = {
    name: databaseTimeOnly,
    kind: 'always' as const,
    needs: ['clock-skew'],
    after: undefined,
    suspendedBy: [],
  }
  for (const { name, kind, needs = [], after, suspendedBy } of [...properties, relation]) {
    tallies.set(name, {
      name,
      kind,
      needs,
      own: false,
      suspendedBy,
      suspended: 0,
      // Of one that may be suspended in every run, its runs say.
      met: after === undefined && suspendedBy.length === 0,
      evaluations: 0,
      violations: 0,
    })
  }

  function addResult(index: number, result: Judged): void {
    sums.seeds += 1
    sums.events += result.events
    sums.simulatedMs += result.simulatedMs
    hashes[index] = result.traceHash
    scenarios[result.scenario] = (scenarios[result.scenario] ?? 0) + 1
    for (const [family, count] of Object.entries(result.strikes))
      faults[family] = (faults[family] ?? 0) + count
    for (const told of result.tallies) {
      const { name, met, evaluations, violations, suspended } = told
      // A bench's own properties are known by its results: only the threads load its module.
      if (told.own && !tallies.has(name))
        tallies.set(name, { ...told, met: false, evaluations: 0, violations: 0, suspended: 0 })
      const tally = tallies.get(name)
      if (!tally) continue
      tally.met ||= met && suspended === 0
      tally.suspended += suspended
      tally.evaluations += evaluations
      tally.violations += violations
      if (evaluations > 0) addRow(told, result.strikes)
    }
    if (result.verdict !== 'pass') failures.push({ index, failure: failureOf(result) })
  }

  function addRow({ name, evaluations, suspendedBy }: PropertyTally, strikes: RunResult['strikes']): void {
    const row = matrix.get(name) ?? {}
    matrix.set(name, row)
    for (const family of Object.keys(strikes)) {
      // What it judged before says nothing about that family.
      if (!suspendedBy.includes(family)) row[family] = (row[family] ?? 0) + evaluations
    }
  }

  function needsOf(name: string): readonly string[] {
    return tallies.get(name)?.needs ?? []
  }

  function applicable(name: string, met: boolean): boolean {
    const needs = needsOf(name)
    return met && (needs.length === 0 || needs.some((family) => (faults[family] ?? 0) > 0))
  }

  /**
   * Of a bench that has properties of its own those are to be evaluated. Whether its jobs can put each of the engine's
   * promises to the test, some of which take long work, is no affair of its author.
   */
  function expected(name: string): boolean {
    const all = [...tallies.values()]
    return !all.some(({ own }) => own) || all.some((tally) => tally.own && tally.name === name)
  }

  /** Even of one seed it is expected that it met some invariant that needs nothing but work. */
  function vacuousSingle(): string[] {
    const met = [...tallies.values()].some(
      ({ name, kind, evaluations }) => kind === 'always' && evaluations > 0 && needsOf(name).length === 0,
    )
    return met ? [] : ['no invariant was ever evaluated: there was no work']
  }

  return {
    get failures() {
      return failures.length
    },
    add: (index, ran) => {
      saturation.add(index, ran.kind === 'result' ? ran.result.behaviours : [])
      if (ran.kind === 'result') return addResult(index, ran.result)
      const { seed, scenario } = ran.request
      const kind = ran.kind === 'hung' ? 'hung' : 'error'
      const message =
        ran.kind === 'hung'
          ? `no sign of life for ${ran.silentMs} ms: the run was killed (an endless loop in a handler or in the engine)`
          : `the run ended its thread: ${ran.message}`
      failures.push({ index, failure: { kind, seed, scenario, property: kind, message, result: null } })
    },
    summary: () => {
      const hash = createHash()
      for (const digest of hashes) if (digest !== undefined) hash.text(digest)
      const told = [...tallies.values()].map(({ met, needs: _needs, own: _own, ...tally }) => ({
        ...tally,
        reached: tally.evaluations > 0,
        applicable: applicable(tally.name, met),
      }))
      const missing = told.filter(({ reached, applicable: could }) => could && !reached)
      const unreached = missing.filter(({ kind }) => kind === 'sometimes').map(({ name }) => name)
      return {
        ...sums,
        traceHash: hash.digest(),
        faults: sorted(faults),
        scenarios: sorted(scenarios),
        matrix: Object.fromEntries([...matrix].map(([name, row]) => [name, sorted(row)])),
        coverage: saturation.told(),
        properties: told,
        failures: failures.sort((a, b) => a.index - b.index).map(({ failure }) => failure),
        unreached,
        vacuous: [
          ...asked
            .filter((family) => !faults[family])
            .map((family) => `fault family ${family} was never injected`),
          ...(single
            ? vacuousSingle()
            : missing
                .filter(({ name, kind }) => kind !== 'sometimes' && expected(name))
                .map(({ name }) => `${name} was never evaluated`)),
          ...(sums.seeds >= sometimesSeedsMin
            ? unreached
                .filter((name) => !partial || tallies.get(name)?.own)
                .map((name) => `${name} was never reached`)
            : []),
        ],
      }
    },
  }
}

function sorted(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function failureOf(result: Judged): Failure {
  const first = result.violations[0]
  const verdict = result.verdict === 'pass' ? 'error' : result.verdict
  return {
    kind: verdict,
    seed: result.seed,
    scenario: result.scenario,
    property: verdict === 'violated' && first ? first.property : verdict,
    message: verdict === 'violated' && first ? first.message : (result.detail ?? ''),
    result,
  }
}
