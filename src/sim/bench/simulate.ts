import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { InvalidArgument } from '../../engine/errors.ts'
import { requireObject, requireWhole, shown } from '../../engine/given.ts'
import { standardProperties } from '../../properties/index.ts'
import type { RunRequest } from '../judge.ts'
import { type Seed, formatSeed, parseSeed, seedAt } from '../seed.ts'
import { shrunk } from '../shrunk.ts'
import { type Failure, createTally } from '../tally.ts'
import { about } from './about.ts'
import type { Bench } from './options.ts'
import { type BenchStore, type Where, dealerFor, fitsThreads, requireStore } from './deal.ts'
import { type BenchResult, type ToldFrom, fileOf, resultOf } from './found.ts'

export interface SimulateOptions {
  /** How many seeds, 1 - 1,000,000. */
  readonly seeds: number
  /** The first of them: a number, a bigint, or text in decimal or 0x hexadecimal. Default 1. */
  readonly firstSeed?: number | bigint | string
  /** Under the engine; default `memory`. The trace hash is the same on all. */
  readonly store?: BenchStore
  /** How long to look for the least that fails, of each kind of failure, in ms; 0: not at all. Default 20,000. */
  readonly shrinkMs?: number
  /** A folder for replay files; default: none is written, and each failure has its `file`. */
  readonly report?: string
  /** Default: `threads` for a bench with a JavaScript `module`, one a core, else `here`. */
  readonly where?: Where
}

export interface Simulated extends BenchResult {
  /** Where its runs took place. In threads a run that hangs is killed, and the leak guard is there before all else. */
  readonly where: Where
  /** `late`: see `holdfast/sim/preload`, which a test runner loads by `--import`. */
  readonly guard: 'preloaded' | 'late'
}

/** A seed that fails like many others before it teaches nothing new. */
const failuresMax = 20
const seedsMax = 1_000_000
const shrinkMsMax = 86_400_000

/**
 * Runs seeds of a bench, shrinks what failed, and answers what came of it. A violation is no exception: see `verdict`.
 * Runs in one thread go one after another, so await one call before the next. Throws `InvalidArgument`.
 */
export async function simulate(bench: Bench, options: SimulateOptions): Promise<Simulated> {
  requireBench(bench)
  requireObject("simulate's options", options, InvalidArgument)
  const { seeds, firstSeed = 1, store = 'memory', shrinkMs = 20_000, report } = options
  requireWhole('seeds', seeds, { min: 1, max: seedsMax }, InvalidArgument)
  requireWhole('shrinkMs', shrinkMs, { min: 0, max: shrinkMsMax }, InvalidArgument)
  requireStore(store)
  if (report !== undefined && (typeof report !== 'string' || report === ''))
    throw new InvalidArgument(`report must be the name of a folder, not ${shown(report)}`)
  const where = whereOf(bench, options.where)
  const first = seedOf('firstSeed', firstSeed)
  const tally = createTally({ properties: standardProperties, asked: [], single: false, partial: true })
  const dealer = await dealerFor(bench, store, where)
  try {
    let dealt = 0
    await dealer.deal({
      next: () => {
        if (dealt >= seeds || tally.failures >= failuresMax) return null
        const index = dealt++
        return { index, request: requestOf(bench, store, seedAt(first, index)) }
      },
      done: (index, ran) => tally.add(index, ran),
    })
    const found = tally.summary().failures
    const failures = shrinkMs === 0 ? found : await shrunk(found, dealer.deal, { store, shrinkMs })
    const from = { bench, code: about(), store }
    const told: ToldFrom = { ...from, pathOf: (failure) => written(report, failure, from) }
    const { guard } = dealer
    return { ...resultOf({ ...tally.summary(), failures }, seeds, told), where, guard }
  } finally {
    await dealer.close()
  }
}

function whereOf(bench: Bench, given: unknown): Where {
  if (given === undefined) return fitsThreads(bench) ? 'threads' : 'here'
  if (given === 'here' || given === 'threads') return given
  throw new InvalidArgument(`where must be 'here' or 'threads', not ${shown(given)}`)
}

/** What `bench` made, of this copy of the package or another. */
export function requireBench(given: unknown): asserts given is Bench {
  const { name, workload, families, module } = (given ?? {}) as Partial<Record<keyof Bench, unknown>>
  const made = typeof name === 'string' && typeof workload === 'function' && Array.isArray(families)
  if (made && module !== undefined) return
  throw new InvalidArgument(`it takes a bench made by bench(...), not ${shown(given)}`)
}

/** Throws `InvalidArgument` naming `what`. */
export function seedOf(what: string, given: unknown): Seed {
  const whole = typeof given === 'bigint' || Number.isSafeInteger(given)
  if (!whole && typeof given !== 'string')
    throw new InvalidArgument(`${what} must be a whole number or its text, not ${shown(given)}`)
  return parseSeed(String(given))
}

export function requestOf(bench: Bench, store: BenchStore, seed: Seed): RunRequest {
  return {
    seed: formatSeed(seed),
    scenario: bench.name,
    store,
    families: null,
    verify: false,
    story: false,
    plan: null,
    draws: null,
  }
}

function written(
  folder: string | undefined,
  failure: Failure,
  from: Omit<ToldFrom, 'pathOf'>,
): string | null {
  const file = folder === undefined ? null : fileOf(failure, from)
  if (folder === undefined || file === null) return null
  const name = `${failure.property}-${failure.seed.slice(2)}.json`.replaceAll(/[^a-z0-9.-]/gi, '_')
  const target = path.join(folder, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(target, JSON.stringify(file))
  return target
}
