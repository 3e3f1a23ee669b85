import { AsyncLocalStorage } from 'node:async_hooks'
import { InvalidArgument } from '../../engine/errors.ts'
import { toJson } from '../../engine/jobs/json.ts'
import { textOf } from '../../engine/jobs/text.ts'
import type { Fault } from '../faults/fault.ts'
import type { RunningHandler } from '../node.ts'
import type { Moment, Service } from './service.ts'

/** The user's services in one world: their states, and what keeps them from being reached. */
export interface Services {
  readonly all: readonly Service[]
  /** Which handler calls; null where there are no services, since to know it costs every promise something. */
  readonly current: AsyncLocalStorage<RunningHandler> | null
  /** The outage of a service, by its name. */
  readonly down: Map<string, Fault>
  /** Whom a service refuses, by machine and service. */
  readonly refused: Map<string, Fault>
  /** Does what it was asked, at one instant. Throws `InvalidArgument` for a service that is none. */
  execute(service: Service, call: string, request: string | null, moment: Moment): Answer
}

/** As JSON text; null for nothing. */
export type Answer =
  | { readonly kind: 'reply'; readonly reply: string | null }
  | { readonly kind: 'refused'; readonly message: string }

export function createServices(all: readonly Service[]): Services {
  const states = new Map<string, unknown>()
  return {
    all,
    current: all.length > 0 ? new AsyncLocalStorage() : null,
    down: new Map(),
    refused: new Map(),
    execute: ({ name, calls, state: initial }, call, request, moment) => {
      const what = `service ${name}: ${call}`
      // What throws has changed nothing, so it gets a copy.
      // Made at its first call, where the leak guard sees what it asks.
      const before = states.has(name) ? states.get(name) : initial()
      const state = copied(`service ${name}: state`, before)
      const run = (calls as Record<string, (...given: unknown[]) => unknown>)[call]
      let reply: unknown
      try {
        reply = run?.(state, parsed(request), moment)
      } catch (error) {
        return { kind: 'refused', message: textOf(error) }
      }
      if (reply instanceof Promise)
        throw new InvalidArgument(`${what} must be synchronous: it answered a promise`)
      states.set(name, state)
      return { kind: 'reply', reply: asJson(`${what}: its reply`, reply) }
    },
  }
}

export function parsed(text: string | null): unknown {
  return text === null ? undefined : (JSON.parse(text) as unknown)
}

/** Throws `InvalidArgument`. */
export function asJson(what: string, value: unknown): string | null {
  try {
    return toJson(value)
  } catch (error) {
    throw new InvalidArgument(`${what} has no JSON form: ${textOf(error)}`, { cause: error })
  }
}

function copied(what: string, state: unknown): unknown {
  try {
    return structuredClone(state)
  } catch (error) {
    throw new InvalidArgument(`${what} must be plain data: ${textOf(error)}`, { cause: error })
  }
}
