// Ambient time: Date, performance, process.hrtime and uptime, Intl's default now, Temporal.Now.
// What formats or parses a given instant is no leak; time zone and locale are left to the environment.
import { dress, type AnyFunction, type Patcher } from './patcher.ts'
import { report, type Watch } from './watch.ts'

export function patchTime(patcher: Patcher): void {
  patcher.replace(globalThis, 'Date', (real) => guardedDate(patcher, real as unknown as DateConstructor))
  patchPerformance(patcher)
  patchIntl(patcher)
  patcher.calls(process, 'hrtime', 'process.hrtime')
  patcher.calls(process, 'uptime', 'process.uptime')
  const temporal: unknown = Reflect.get(globalThis, 'Temporal')
  if (isObject(temporal) && 'Now' in temporal && isObject(temporal.Now))
    patcher.callsOf(temporal.Now, 'Temporal.Now', /^(?!timeZoneId$)/)
}

/** One prototype for both constructors, so that `instanceof` holds for dates that Node itself makes. */
function guardedDate(patcher: Patcher, real: DateConstructor): AnyFunction {
  const { watch } = patcher
  const patched = function (this: unknown, ...args: unknown[]): unknown {
    if (new.target === undefined) {
      const ms = watch.armed ? ambientMs(watch, 'Date()', patched) : undefined
      return ms === undefined ? real() : new real(ms).toString()
    }
    const ms = args.length === 0 && watch.armed ? ambientMs(watch, 'new Date()', patched) : undefined
    const given = ms === undefined ? args : [ms]
    if (new.target !== patched) return Reflect.construct(real, given, new.target) as unknown
    // Spelled out, because on Node 20 Reflect.construct costs as much as the date.
    if (given.length === 0) return new real()
    return given.length === 1 ? new real(given[0] as number) : (Reflect.construct(real, given) as unknown)
  }
  dress(patched, real)
  Object.defineProperty(patched, 'prototype', { writable: false })
  Object.defineProperty(real.prototype, 'constructor', { value: patched })

  const realNow = real.now
  patcher.replace(patched, 'now', (of) => {
    const now = (): number => (watch.armed ? armedNow() : realNow())
    const armedNow = (): number => {
      const ms = ambientMs(watch, 'Date.now', now)
      return ms === undefined ? realNow() : Math.trunc(ms)
    }
    dress(now, of)
    return now
  })
  return patched
}

/** The virtual instant, or undefined, after a report, when there is none. */
function ambientMs(watch: Watch, what: string, patched: object): number | undefined {
  if (watch.hostedMs !== null) return watch.hostedMs
  if (watch.source !== null) return watch.source.nowMs()
  report(watch, what, patched)
  return undefined
}

/**
 * Virtual, `now` is the instant itself and `timeOrigin` 0: their sum is right, no origin has to be kept,
 * and a source may be exchanged between two events.
 */
function patchPerformance(patcher: Patcher): void {
  const { watch } = patcher
  const prototype = Object.getPrototypeOf(performance) as object
  patcher.replace(prototype, 'now', (real) => {
    const now = function (this: unknown): unknown {
      const ms = watch.armed ? ambientMs(watch, 'performance.now', now) : undefined
      return ms ?? Reflect.apply(real, this, [])
    }
    dress(now, real)
    return now
  })
  replaceGetter(prototype, 'timeOrigin', (real) => {
    const timeOrigin = function (this: unknown): unknown {
      if (watch.armed && watch.source !== null) return 0
      if (watch.armed) report(watch, 'performance.timeOrigin', timeOrigin)
      return Reflect.apply(real, this, [])
    }
    return timeOrigin
  })
  for (const key of ['mark', 'measure', 'toJSON', 'eventLoopUtilization'])
    patcher.calls(prototype, key, `performance.${key}`)
}

/** `format` is a getter that binds; whoever keeps its answer from before the run must be seen too. */
function patchIntl(patcher: Patcher): void {
  const { watch } = patcher
  const prototype = Intl.DateTimeFormat.prototype
  const withNow = (what: string, real: AnyFunction): AnyFunction => {
    const patched = function (this: unknown, ...args: unknown[]): unknown {
      const ms = args[0] === undefined && watch.armed ? ambientMs(watch, what, patched) : undefined
      return Reflect.apply(real, this, ms === undefined ? args : [ms])
    }
    dress(patched, real)
    return patched
  }
  const formatOf = new WeakMap<AnyFunction, AnyFunction>()
  replaceGetter(prototype, 'format', (real) => {
    return function (this: unknown): unknown {
      const bound = Reflect.apply(real, this, []) as AnyFunction
      const known = formatOf.get(bound)
      if (known) return known
      const patched = withNow('Intl.DateTimeFormat.format', bound)
      formatOf.set(bound, patched)
      return patched
    }
  })
  patcher.replace(prototype, 'formatToParts', (real) => withNow('Intl.DateTimeFormat.formatToParts', real))
}

function replaceGetter(owner: object, key: string, make: (real: AnyFunction) => AnyFunction): void {
  const descriptor: { get?: AnyFunction } = Object.getOwnPropertyDescriptor(owner, key) ?? {}
  const real = descriptor.get
  if (!real) return
  const get = make(real)
  dress(get, real)
  Object.defineProperty(owner, key, { ...descriptor, get })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
