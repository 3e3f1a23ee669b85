import { InvalidArgument } from '../../engine/errors.ts'
import { shown } from '../../engine/given.ts'
import { storeNamed } from '../catalogue.ts'
import { leakGuard } from '../guard/guard.ts'
import { judge } from '../judge.ts'
import type { Deal } from '../shrunk.ts'
import { runPool } from '../threads/pool.ts'
import type { Bench } from './options.ts'

/** Where runs take place: in this thread, or in threads of their own. */
export type Where = 'here' | 'threads'

export interface Dealer {
  readonly where: Where
  /** `late`: modules were loaded before the guard was there, and what they kept of the real clock escapes it. */
  readonly guard: 'preloaded' | 'late'
  readonly deal: Deal
  readonly close: () => Promise<void>
}

const stores = ['memory', 'sqlite', 'pglite'] as const
export type BenchStore = (typeof stores)[number]

export function requireStore(store: unknown): asserts store is BenchStore {
  if ((stores as readonly unknown[]).includes(store)) return
  throw new InvalidArgument(`store must be one of ${stores.join(', ')}, not ${shown(store)}`)
}

/** A thread imports the bench by its module, and Node.js 20 imports JavaScript alone. */
export function fitsThreads({ module }: Bench): boolean {
  return module !== null && /^file:.*\.m?js$/.test(module)
}

export async function dealerFor(bench: Bench, store: BenchStore, where: Where): Promise<Dealer> {
  return where === 'threads' ? threadsDealer(bench, store) : dealerHere(bench, store)
}

function threadsDealer({ name, module }: Bench, store: BenchStore): Dealer {
  if (module === null)
    throw new InvalidArgument(`bench ${name}: it takes a module (import.meta.url) to run in threads`)
  return {
    where: 'threads',
    guard: 'preloaded',
    deal: (work) => runPool({ url: module, store: () => ({ name: store, ground: null }), ...work }),
    close: async () => {},
  }
}

/** One run after another. An endless loop in a handler is one of this process: nobody watches it. */
async function dealerHere(bench: Bench, store: BenchStore): Promise<Dealer> {
  requireOwnRealm(`bench ${bench.name}`)
  const guard = leakGuard()
  const opened = await (await storeNamed(store))(null)
  const scenarios = [bench]
  return {
    where: 'here',
    guard: guard.late ? 'late' : 'preloaded',
    close: () => opened.close(),
    deal: async ({ next, done }) => {
      let fail: ((error: unknown) => void) | null = null
      // A handler that leaves a rejection behind ends its run, as it does in a thread.
      const rejected = (reason: unknown): void => fail?.(reason)
      process.on('unhandledRejection', rejected)
      try {
        const hooks = {
          store: opened.open,
          trap: (failing: (error: unknown) => void) => void (fail = failing),
        }
        for (let at = next(); at; at = next()) {
          const result = await judge(at.request, scenarios, hooks)
          done(at.index, { kind: 'result', result })
        }
      } finally {
        process.off('unhandledRejection', rejected)
      }
    },
  }
}

/** In a realm of its own, as under vitest's vmThreads, a handler has a `Date` and a `Math` that no guard sees. */
export function requireOwnRealm(of: string): void {
  if (Object.getPrototypeOf(process.argv) === Array.prototype) return
  throw new InvalidArgument(
    `${of}: this is a realm of its own (vitest's vmThreads or vmForks), where no guard can see a handler ask the machine; use pool 'forks' or 'threads'`,
  )
}
