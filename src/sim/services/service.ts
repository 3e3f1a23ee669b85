import { HoldfastError, InvalidConfig } from '../../engine/errors.ts'
import { requireFunction, requireObject, requireWhole, shown } from '../../engine/given.ts'
import { afterUnknown } from '../../stores/policy.ts'

/** What a call of a service knows beside its state and its request. */
export interface Moment {
  /** The world's time, in ms since the Unix epoch. */
  readonly nowMs: number
}

/** One call of a service: a synchronous function of its state, which it may change, and of a request. */
export type Call<State> = (state: State, request: never, moment: Moment) => unknown

export type Calls<State> = Readonly<Record<string, Call<State>>>

export interface ServiceOptions<Name extends string, State, C extends Calls<State>> {
  /** Names it in faults, in the history and among the ports that `jobs` is given: letters, digits, `-` and `_`. */
  readonly name: Name
  /** Its state at the start of a run: plain data. */
  readonly state: () => State
  /** What it can be asked for. A call that throws has changed nothing, and its caller gets `ServiceRefused`. */
  readonly calls: C
  /** How long a caller waits for a reply, in ms by its own clock; default 10,000. */
  readonly timeoutMs?: number
}

/** A fake of a system that handlers call, on the same wire as the database: see `service`. */
export interface Service<Name extends string = string, State = unknown, C = unknown> {
  readonly name: Name
  readonly state: () => State
  readonly calls: C
  readonly timeoutMs: number
}

/** How a handler calls a service: a function for each of its calls. */
export type Port<C> = {
  readonly [Name in keyof C]: C[Name] extends (
    state: never,
    request: infer Request,
    moment: Moment,
  ) => infer Reply
    ? (request: Request, options?: CallOptions) => Promise<Reply>
    : never
}

export interface CallOptions {
  /** Gives up waiting when it fires, and rejects with its reason. What was sent is on its way all the same. */
  readonly signal?: AbortSignal
}

/** The ports of a list of services, by their names. */
export type Ports<S extends readonly Service[]> = {
  readonly [One in S[number] as One['name']]: Port<One['calls']>
}

/**
 * The service did not answer, as a client of it would see it. `ECONNREFUSED`: it was not reached. `ECONNRESET`,
 * `ETIMEDOUT`: it may have done what it was asked (`sent: 'maybe'`). `SERVICE_BUSY`: it answered that it did nothing.
 */
export class ServiceUnavailable extends HoldfastError {
  readonly code: 'ECONNREFUSED' | 'ECONNRESET' | 'ETIMEDOUT' | 'SERVICE_BUSY'
  readonly sent: 'no' | 'maybe'
  /** As `payments.charge`. */
  readonly call: string
  constructor(call: string, code: ServiceUnavailable['code']) {
    super(`${call}: ${says[code]} (simulated)`)
    this.call = call
    this.code = code
    this.sent = code === 'ECONNREFUSED' || code === 'SERVICE_BUSY' ? 'no' : 'maybe'
  }
}

const says = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset before there was an answer',
  ETIMEDOUT: 'no answer in time',
  SERVICE_BUSY: 'the service is too busy, and did nothing',
} as const

/** The service answered with what its function threw. Nothing was changed. */
export class ServiceRefused extends HoldfastError {
  readonly code = 'SERVICE_REFUSED'
}

const nameForm = /^[A-Za-z][\w-]{0,63}$/
/** What faults already know under such names: the calls of the store. */
const taken: ReadonlySet<string> = new Set(
  Object.keys(afterUnknown).map((call) => call.split('.')[0] ?? call),
)
const timeoutMsMax = 3_600_000

/**
 * Defines a fake of a system of your own (payments, mail) for a bench. Each call is a request, an execution at one
 * instant of world time, and a reply: each of these can be lost, late or refused, as with the database. Requests and
 * replies are JSON. Throws `InvalidConfig` naming the field.
 */
export function service<const Name extends string, State, C extends Calls<State>>(
  options: ServiceOptions<Name, State, C>,
): Service<Name, State, C> {
  requireObject("service's options", options, InvalidConfig)
  const { name, state, calls, timeoutMs = 10_000 } = options
  if (typeof name !== 'string' || !nameForm.test(name))
    throw new InvalidConfig(`service: name must be letters, digits, - and _, not ${shown(name)}`)
  if (taken.has(name)) throw new InvalidConfig(`service: name '${name}' is one of the store's own`)
  requireFunction(`service ${name}: state`, state, InvalidConfig)
  requireObject(`service ${name}: calls`, calls, InvalidConfig)
  const names = Object.keys(calls)
  if (names.length === 0) throw new InvalidConfig(`service ${name}: calls must have at least one function`)
  for (const call of names) {
    if (!nameForm.test(call))
      throw new InvalidConfig(
        `service ${name}: calls must be named by letters, digits, - and _, not ${shown(call)}`,
      )
    requireFunction(`service ${name}: calls.${call}`, calls[call], InvalidConfig)
  }
  requireWhole(`service ${name}: timeoutMs`, timeoutMs, { min: 1, max: timeoutMsMax }, InvalidConfig)
  return { name, state, calls, timeoutMs }
}

/** All that can be asked of them, as `payments.charge`. */
export function callsOf(services: readonly Service[]): readonly string[] {
  return services.flatMap(({ name, calls }) => Object.keys(calls as object).map((call) => `${name}.${call}`))
}
