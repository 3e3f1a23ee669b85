// The leak guard: sees when code under simulation asks the real machine instead of a port.
// It records and lets the call through; the verdict is the bench's. One guard a realm, never removed.
import { syncBuiltinESMExports } from 'node:module'
import { patchChance } from './chance.ts'
import { patchIo } from './io.ts'
import type { Leak } from './leak.ts'
import { createPatcher } from './patcher.ts'
import { patchTime } from './time.ts'
import { patchTimers } from './timers.ts'
import type { AmbientSource, Watch } from './watch.ts'

export type { Leak } from './leak.ts'
export type { AmbientSource } from './watch.ts'

export interface LeakGuard {
  /** Installed after other modules had run: a function that one of them kept before escapes the guard. */
  readonly late: boolean
  /** From here on ambient calls are leaks. A field write; to arm twice is to arm once. */
  arm(): void
  /** From here on everything passes through, virtual or not. */
  disarm(): void
  /** The oldest leak since the last take, which it forgets; null when there was none. */
  takeLeak(): Leak | null
  /**
   * While armed, the clock (`Date`, `performance.now`, `Intl`'s default now) and `Math.random` answer from
   * `source` and are no leaks; everything else remains one. Null gives the real ones back.
   */
  virtualise(source: AmbientSource | null): void
  /**
   * Runs `fn`, which is synchronous, as the machine of a database: its clock says `nowMs`, the timers that it sets
   * never fire, and nothing of what it asks is a leak.
   */
  host<T>(nowMs: number, fn: () => T): T
  /** Runs `fn` disarmed. Of an async function that is the part up to its first await. */
  exempt<T>(fn: () => T): T
}

/** Code compiled to dist and the same code run from src must find one guard, hence no module variable. */
const registry = Symbol.for('holdfast.leak-guard')

/** The guard of this thread; installs it, late, where `preload` did not. */
export function leakGuard(): LeakGuard {
  return installLeakGuard({ late: true })
}

/** Installs the guard unless this thread has one. For `preload`; everybody else calls `leakGuard`. */
export function installLeakGuard(options: { readonly late: boolean }): LeakGuard {
  const installed: unknown = Reflect.get(globalThis, registry)
  if (installed !== undefined) return installed as LeakGuard
  const watch: Watch = { armed: false, source: null, hostedMs: null, oldest: null }
  const guard = guardOver(watch, options.late)
  const patcher = createPatcher(watch)
  patchTime(patcher)
  patchChance(patcher)
  patchTimers(patcher)
  patchIo(patcher)
  syncBuiltinESMExports()
  Object.defineProperty(globalThis, registry, { value: guard })
  return guard
}

const noTimer = (() => 0) as unknown as typeof setTimeout

function guardOver(watch: Watch, late: boolean): LeakGuard {
  return {
    late,
    arm: () => {
      watch.armed = true
    },
    disarm: () => {
      watch.armed = false
    },
    takeLeak: () => {
      const leak = watch.oldest
      watch.oldest = null
      return leak
    },
    virtualise: (source) => {
      watch.source = source
    },
    host: (nowMs, fn) => {
      const { armed } = watch
      const { setTimeout: real } = globalThis
      watch.armed = true
      watch.hostedMs = nowMs
      globalThis.setTimeout = noTimer
      try {
        return fn()
      } finally {
        globalThis.setTimeout = real
        watch.hostedMs = null
        watch.armed = armed
      }
    },
    exempt: (fn) => {
      const before = watch.armed
      watch.armed = false
      try {
        return fn()
      } finally {
        watch.armed = before
      }
    },
  }
}
