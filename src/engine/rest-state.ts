import type { Engine } from './api.ts'

/**
 * All that decides how something goes on from here, at a point where it waits for nothing but time and messages. Two
 * that are at rest with the same state go on in the same way: exhaustive exploration takes them for one, and shows it
 * where that is wrong. Plain data: keys that end in `AtMs` hold instants, of the monotonic clock or of the database;
 * what its timers wait for is not repeated.
 *
 * Null: it is in the midst of something.
 */
export type RestState = Readonly<Record<string, unknown>> | null

export const restState: unique symbol = Symbol('holdfast.restState')

/** An engine that says where it rests: each that `createEngine` makes does. */
export interface Resting {
  readonly [restState]: () => RestState
}

export function restStateOf(engine: Engine): RestState {
  return (engine as Engine & Resting)[restState]()
}
