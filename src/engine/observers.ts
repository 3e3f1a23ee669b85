import type { EngineEvent } from './history.ts'
import type { Observer } from './ports/observer.ts'

type TypeOf = EngineEvent['type']
type Listener = (event: EngineEvent) => void

/** Tells observers and listeners what happened. One that throws is reported, and harms nothing. */
export interface Observers {
  emit(event: EngineEvent): void
  on<T extends TypeOf>(type: T, listener: (event: Extract<EngineEvent, { type: T }>) => void): () => void
}

export function createObservers(observer: Observer | undefined): Observers {
  const listeners = new Map<TypeOf, Set<Listener>>()

  function tell(listener: Listener, event: EngineEvent): void {
    try {
      listener(event)
    } catch (error) {
      if (event.type !== 'observer.failed') emit({ type: 'observer.failed', message: String(error) })
    }
  }

  function emit(event: EngineEvent): void {
    if (observer) tell((told) => observer.event(told), event)
    const told = listeners.get(event.type)
    if (told) for (const listener of [...told]) tell(listener, event)
  }

  return {
    emit,
    on: (type, listener) => {
      const set = listeners.get(type) ?? new Set<Listener>()
      listeners.set(type, set)
      set.add(listener as Listener)
      return () => void set.delete(listener as Listener)
    },
  }
}
