import { InvalidArgument } from './errors.ts'
import { requireFunction, shown } from './given.ts'
import { isThenable } from './jobs/thenable.ts'
import type { EngineEvent } from './history.ts'
import type { Measure } from './metrics.ts'
import { textOf } from './jobs/text.ts'
import type { Observer } from './ports/observer.ts'

type TypeOf = EngineEvent['type']
type Listener = (event: EngineEvent) => void

/** Which there are; the compiler sees to it that none is missing. */
const types: Readonly<Record<TypeOf, true>> = {
  'engine.started': true,
  'engine.stopped': true,
  'claim.unknown': true,
  'claim.known': true,
  'attempt.started': true,
  'attempt.misfit': true,
  'attempt.ended': true,
  'attempt.committing': true,
  'attempt.committed': true,
  'attempt.uncertain': true,
  'attempt.certain': true,
  'attempt.lost': true,
  'attempt.cancelling': true,
  'log.lost': true,
  'attempt.abandoned': true,
  'attempt.confirmed': true,
  'exclusive.began': true,
  'exclusive.lost': true,
  'exclusive.ended': true,
  'schedule.unreadable': true,
  'leader.elected': true,
  'leader.lost': true,
  'leader.failed': true,
  'loop.stalled': true,
  'wakeups.changed': true,
  'store.failed': true,
  'observer.failed': true,
}

/** Tells observers and listeners what happened. One that throws is reported, and harms nothing. */
export interface Observers {
  readonly emit: (event: EngineEvent) => void
  readonly on: <T extends TypeOf>(
    type: T,
    listener: (event: Extract<EngineEvent, { type: T }>) => void,
  ) => () => void
  readonly measure: Measure
}

export function createObservers(observer: Observer | undefined): Observers {
  const listeners = new Map<TypeOf, readonly Listener[]>()

  function tell<T>(listener: (told: T) => void, told: T, isReport: boolean): void {
    const failed = (error: unknown): void => {
      if (!isReport) emit({ type: 'observer.failed', message: textOf(error) })
    }
    try {
      const answer: unknown = listener(told)
      // The types let an async function pass for one that answers nothing.
      if (isThenable(answer)) Promise.resolve(answer).catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  function emit(event: EngineEvent): void {
    const isReport = event.type === 'observer.failed'
    if (observer) tell((told) => observer.event(told), event, isReport)
    const heard = listeners.get(event.type)
    if (heard) for (const listener of heard) tell(listener, event, isReport)
  }

  return {
    emit,
    measure: observer?.metric ? (metric) => tell((told) => observer.metric?.(told), metric, false) : null,
    on: (type, listener) => {
      if (!Object.hasOwn(types, type)) {
        throw new InvalidArgument(
          `there is no event ${shown(type)}; there are ${Object.keys(types).join(', ')}`,
        )
      }
      requireFunction('a listener', listener, InvalidArgument)
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
