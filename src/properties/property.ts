import type { EventOf, HistoryType } from '../engine/history.ts'
import { recalling } from './recalling.ts'

/**
 * An invariant as a fold over the history of one run. Its state is plain data that it alone changes, so
 * that a run can be stopped, copied and gone on with.
 *
 * - `always`: holds at every event it looks at.
 * - `eventually`: holds by the end of a run that healed.
 * - `sometimes`: something interesting happened at all; never violated, only unreached.
 */
export interface Property<State = unknown, On extends HistoryType = HistoryType> {
  readonly name: string
  readonly kind: 'always' | 'eventually' | 'sometimes'
  /** What it says, in one sentence. */
  readonly says: string
  /** What a violation could hide behind: the blind spot. */
  readonly blindSpot: string
  /** The only event types that it is given. */
  readonly on: readonly On[]
  /** Fault families that make it inapplicable: in a run in which one has struck it judges nothing from then on. */
  readonly suspendedBy: readonly string[]
  /**
   * The members of its state that say what the store holds (`all`: it says nothing else). When the database is restored
   * from a backup they become what they were then. Default: none.
   */
  readonly recalls?: readonly (keyof State)[] | 'all'
  /** The members that begin anew then: of what came before nothing is asked. Default: none. */
  readonly forgets?: readonly (keyof State)[]
  /** Fault families without which it cannot be evaluated; any one of them will do. Default: none needed. */
  readonly needs?: readonly string[]
  /** Events without any of which it cannot be evaluated either. Default: none needed. */
  readonly after?: readonly HistoryType[]
  start(): State
  step(state: State, event: EventOf<On>, verdict: Verdict): void
}

export interface Verdict {
  /** The precondition held and the property was evaluated (for `sometimes`: it happened). */
  evaluated(): void
  /** `subject` is the job or node it is about; `kind` tells violations of one property apart. */
  violated(violation: { readonly kind: string; readonly subject: string; readonly message: string }): void
}

/** Fixes the event types of a property, and forgets the type of its state. */
export function property<State, On extends HistoryType>(definition: Property<State, On>): Property {
  const plain = definition as unknown as Property
  return definition.recalls || definition.forgets ? recalling(plain) : plain
}
