import { isThenable } from './jobs/thenable.ts'
import type { EngineEvent } from './history.ts'
import { textOf } from './jobs/text.ts'
import type { Observer } from './ports/observer.ts'

type TypeOf = EngineEvent['type']
type Listener = (event: EngineEvent) => void

/** Tells observers and listeners what happened. One that throws is reported, and harms nothing. */
export interface Observers {
  readonly emit: (event: EngineEvent) => void
  readonly on: <T extends TypeOf>(
    type: T,
    listener: (event: Extract<EngineEvent, { type: T }>) => void,
  ) => () => void
}

export function createObservers(observer: Observer | undefined): Observers {
  const listeners = new Map<TypeOf, readonly Listener[]>()

  function tell(listener: Listener, event: EngineEvent): void {
    const failed = (error: unknown): void => {
      if (event.type !== 'observer.failed') emit({ type: 'observer.failed', message: textOf(error) })
    }
    try {
      const answer: unknown = listener(event)
      // The types let an async function pass for one that answers nothing.
      if (isThenable(answer)) Promise.resolve(answer).catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  function emit(event: EngineEvent): void {
    if (observer) tell((told) => observer.event(told), event)
    for (const listener of listeners.get(event.type) ?? []) tell(listener, event)
  }

  return {
    emit,
    on: (type, listener) => {
      // A list is replaced, never changed: a listener may add or remove listeners while it is told.
      const added = listener as Listener
      listeners.set(type, [...(listeners.get(type) ?? []), added])
      return () =>
        void listeners.set(
          type,
          (listeners.get(type) ?? []).filter((other) => other !== added),
        )
    },
  }
}
