// How a built-in is replaced so that nobody notices: same name, length, statics, identity across modules.
// It knows no built-in by name.
import { report, type Watch } from './watch.ts'

export type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

export interface Patcher {
  readonly watch: Watch
  /** Puts what `make` returns in place of the function `owner[key]`; absent ones stay absent. */
  replace(owner: object, key: PropertyKey, make: (real: AnyFunction) => AnyFunction): void
  /** To call `owner[key]` while armed is a leak called `what`. */
  calls(owner: object, key: PropertyKey, what: string): void
  /** The same for all functions of `owner` whose name passes; they are called `prefix.name`. */
  callsOf(owner: object, prefix: string, passes: RegExp): void
  /** To construct the class `owner[key]` while armed is a leak called `new key()`. */
  constructions(owner: object, key: string): void
}

export function createPatcher(watch: Watch): Patcher {
  // `timers.setTimeout === setTimeout` holds before, so it has to hold after.
  const patchedOf = new WeakMap<object, AnyFunction>()
  const isOurs = new WeakSet<object>()

  const remember = (real: AnyFunction, patched: AnyFunction): AnyFunction => {
    patchedOf.set(real, patched)
    isOurs.add(patched)
    return patched
  }
  const patchOf = (real: AnyFunction, make: (real: AnyFunction) => AnyFunction): AnyFunction =>
    isOurs.has(real) ? real : (patchedOf.get(real) ?? remember(real, make(real)))

  const replace: Patcher['replace'] = (owner, key, make) => {
    const real: unknown = Reflect.get(owner, key)
    if (typeof real === 'function') put(owner, key, patchOf(real as AnyFunction, make))
  }

  const guarded = (what: string, real: AnyFunction): AnyFunction => {
    const patched = function (this: unknown, ...args: unknown[]): unknown {
      if (watch.armed) report(watch, what, patched)
      return Reflect.apply(real, this, args)
    }
    // Before its statics: what `util.promisify` made is its own custom promisified version.
    remember(real, patched)
    // `realpath.native`, `hrtime.bigint`, `execFile[promisify.custom]`: other doors to the same room.
    dress(patched, real, (key, inner) =>
      patchOf(inner, () => guarded(typeof key === 'symbol' ? what : `${what}.${key}`, inner)),
    )
    return patched
  }

  const calls: Patcher['calls'] = (owner, key, what) => replace(owner, key, (real) => guarded(what, real))

  const callsOf: Patcher['callsOf'] = (owner, prefix, passes) => {
    for (const key of Object.getOwnPropertyNames(owner)) {
      if (key !== 'constructor' && passes.test(key) && isMethod(owner, key))
        calls(owner, key, `${prefix}.${key}`)
    }
  }

  const constructions: Patcher['constructions'] = (owner, key) =>
    replace(owner, key, (real) => guardedClass(watch, `new ${key}()`, real))

  return { watch, replace, calls, callsOf, constructions }
}

/** Gives `patched` all that can be seen of `real` from outside, except its source text. */
export function dress(
  patched: AnyFunction,
  real: AnyFunction,
  through: (key: string | symbol, inner: AnyFunction) => AnyFunction = (_, inner) => inner,
): void {
  for (const key of Reflect.ownKeys(real)) {
    const descriptor = Object.getOwnPropertyDescriptor(real, key)
    if (!descriptor || key === 'prototype' || key === 'arguments' || key === 'caller') continue
    const { value }: { value?: unknown } = descriptor
    if (typeof value === 'function') descriptor.value = through(key, value as AnyFunction)
    Object.defineProperty(patched, key, descriptor)
  }
  if (Object.hasOwn(real, 'prototype')) Reflect.set(patched, 'prototype', Reflect.get(real, 'prototype'))
}

/** A class keeps its private statics, its `super` and its subclasses only behind a proxy. */
function guardedClass(watch: Watch, what: string, real: AnyFunction): AnyFunction {
  const construct = (target: AnyFunction, args: unknown[], newTarget: unknown): object => {
    if (watch.armed) report(watch, what, construct)
    const made: unknown = Reflect.construct(
      target,
      args,
      newTarget === proxy ? target : (newTarget as AnyFunction),
    )
    return made as object
  }
  const proxy = new Proxy(real, { construct })
  return proxy
}

/** Keeps the property as visible as it was; a lazy getter becomes the value that it would have become. */
function put(owner: object, key: PropertyKey, value: AnyFunction): void {
  const own = Object.getOwnPropertyDescriptor(owner, key)
  Object.defineProperty(owner, key, {
    value,
    writable: own?.writable ?? true,
    enumerable: own?.enumerable ?? false,
    configurable: true,
  })
}

/** Looks without touching: a getter may load half of Node. */
function isMethod(owner: object, key: string): boolean {
  return typeof Object.getOwnPropertyDescriptor(owner, key)?.value === 'function'
}
