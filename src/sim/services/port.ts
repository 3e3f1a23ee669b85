import type { Clock } from '../../engine/ports/clock.ts'
import { epochMs } from '../clock/node-clock.ts'
import type { Fault } from '../faults/fault.ts'
import { type Incarnation, standStill } from '../node.ts'
import type { World } from '../world.ts'
import { type CallOptions, type Service, ServiceRefused, ServiceUnavailable } from './service.ts'
import { type Answer, asJson, parsed } from './services.ts'

/**
 * The way from a process to the user's services: like that to the database, a request, an execution and a reply, of
 * which each can get lost. Nothing is repeated here: what a caller does then is the user's own code.
 */
export type AnyPorts = Readonly<Record<string, Readonly<Record<string, AnyCall>>>>

type AnyCall = (request: unknown, options?: CallOptions) => Promise<unknown>

/** Where a request is on its way to a service, or its reply on the way back. */
const arrival = 'service-arrival'
const replyOf = 'reply of '
const latencyMsMax = 20

/** Whether it is the label of an event that answers a call of a service. */
export function isServiceReply(label: string): boolean {
  return label.startsWith(replyOf)
}

/** The ports of one process. */
export function createPorts(world: World, owner: Incarnation, clock: Clock): AnyPorts {
  const entries = world.services.all.map((service) => {
    const calls = Object.keys(service.calls as object).map((call) => {
      // They number the draws.
      let count = 0
      const ask: AnyCall = async (request, options = {}) =>
        send(
          { world, owner, clock, service, call, name: `${service.name}.${call}`, ordinal: ++count },
          request,
          options,
        )
      return [call, ask] as const
    })
    return [service.name, Object.fromEntries(calls)] as const
  })
  return Object.fromEntries(entries)
}

/** For the definitions alone: whoever calls one is no handler. */
export function deafPorts(services: readonly Service[]): AnyPorts {
  const refuse = (name: string) => () =>
    Promise.reject(new ServiceRefused(`${name} was called while no process runs; call it from a handler`))
  return Object.fromEntries(
    services.map(({ name, calls }) => {
      const all = Object.keys(calls as object).map((call) => [call, refuse(`${name}.${call}`)] as const)
      return [name, Object.fromEntries(all)] as const
    }),
  )
}

interface Sent {
  readonly world: World
  readonly owner: Incarnation
  readonly clock: Clock
  readonly service: Service
  readonly call: string
  /** Both, as `payments.charge`. */
  readonly name: string
  readonly ordinal: number
}

function send(sent: Sent, asked: unknown, { signal }: CallOptions): Promise<unknown> {
  const { world, owner, name, ordinal, service } = sent
  const request = asJson(`${name}: its request`, asked)
  // A dead process goes on in our memory until its promises are gone; it reaches nothing any more.
  if (!owner.alive) return new Promise(() => {})
  if (signal?.aborted) return Promise.reject(signal.reason as Error)
  const { services, recorder, chooser } = world
  const { job = null, epoch = null } = services.current?.getStore() ?? {}
  const latency = chooser.below(latencyMsMax * latencyMsMax, 'service-latency', owner.who, name, ordinal)
  const outMs = 1 + (latency % latencyMsMax)
  const backMs = 1 + Math.floor(latency / latencyMsMax)

  return new Promise((resolve, reject) => {
    const waiting = wait(sent, job !== null, signal, reject)
    const answer = (delayMs: number, outcome: string, how: () => void): void =>
      void world.schedule(owner, delayMs, replyOf + name, () => {
        recorder.reply(owner, name, outcome)
        waiting.over(how)
      })
    const fail = (code: ServiceUnavailable['code']): void =>
      answer(backMs, code, () => reject(new ServiceUnavailable(name, code)))
    const told = (answered: Answer, delayMs: number): void => {
      if (answered.kind === 'reply') answer(delayMs, 'ok', () => resolve(parsed(answered.reply)))
      else answer(delayMs, 'refused', () => reject(new ServiceRefused(answered.message)))
    }
    const execute = (): Answer => {
      const moment = { nowMs: epochMs + world.nowMs }
      const answered = services.execute(service, sent.call, request, moment)
      recorder.executed(owner, name)
      recorder.stored(owner, {
        type: 'service.called',
        service: service.name,
        call: sent.call,
        job,
        epoch,
        request: parsed(request) ?? null,
        reply: answered.kind === 'reply' ? (parsed(answered.reply) ?? null) : null,
        error: answered.kind === 'refused' ? answered.message : null,
      })
      return answered
    }

    recorder.request(owner, name)
    if (services.refused.has(`${owner.node.name} ${service.name}`)) return fail('ECONNREFUSED')
    if (services.down.get(service.name)?.how === 'reset') return fail('ECONNREFUSED')
    const fault = struckBy(sent)
    const early = fault?.family === 'service-lost-request' || fault?.family === 'service-late-request'
    if (early && fault.how === 'reset') fail('ECONNRESET')
    if (fault?.family === 'service-lost-request') return

    world.later(early ? (fault.lateMs ?? outMs) : outMs, arrival, () => {
      const down = services.down.get(service.name)
      if (down) return early || down.how !== 'reset' ? undefined : fail('ECONNRESET')
      if (fault?.family === 'service-busy') return fail('SERVICE_BUSY')
      try {
        const answered = execute()
        if (early) return
        const lost = fault?.family === 'service-lost-reply' || fault?.family === 'service-pause'
        if (lost && fault.how === 'reset') return fail('ECONNRESET')
        if (fault?.family === 'service-lost-reply') return
        told(answered, fault?.family === 'service-slow-reply' ? (fault.lateMs ?? backMs) : backMs)
      } catch (error) {
        world.fail(error)
      }
    })
  })
}

/** The fault that waited for such a call of this machine. */
function struckBy({ world, owner, name }: Sent): Fault | undefined {
  const { armed } = owner.node
  const at = armed.findIndex((fault) => fault.call === name)
  const fault = at < 0 ? undefined : armed.splice(at, 1)[0]
  if (!fault) return undefined
  world.struck(fault, owner, name)
  if (fault.family === 'service-pause') standStill(world, owner, fault.forMs ?? 0)
  return fault
}

/** Ends once: with an answer, at the caller's own time limit, or when its signal fires. */
function wait(
  { owner, clock, name, service: { timeoutMs } }: Sent,
  counts: boolean,
  signal: AbortSignal | undefined,
  reject: (error: unknown) => void,
): { over(how: () => void): void } {
  let open = true
  const over = (how: () => void): void => {
    if (!open) return
    open = false
    timer.cancel()
    signal?.removeEventListener('abort', aborted)
    // A handler that waits for a service waits for a port.
    if (counts) owner.waits -= 1
    how()
  }
  const aborted = (): void => over(() => reject(signal?.reason))
  if (counts) owner.waits += 1
  const timer = clock.timer(timeoutMs, 'service-timeout', () =>
    over(() => reject(new ServiceUnavailable(name, 'ETIMEDOUT'))),
  )
  signal?.addEventListener('abort', aborted, { once: true })
  return { over }
}
