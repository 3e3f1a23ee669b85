// Fakes of a user's services on the wire: what each fault does to a call, and what its caller sees.
import { describe, expect, test } from 'vitest'
import type { EventOf, HistoryEvent } from '../../../src/engine/history.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Property, property } from '../../../src/properties/index.ts'
import { isHarmless } from '../../../src/properties/model/harmless.ts'
import {
  type Fault,
  type FamilyName,
  ServiceRefused,
  ServiceUnavailable,
  bench,
  service,
  serviceFamilies,
  simulate,
  trial,
} from '../../../src/sim/index.ts'
import { createServices } from '../../../src/sim/services/services.ts'
import { till } from './support.ts'

const counter = service({
  name: 'counter',
  timeoutMs: 5_000,
  state: () => ({ value: 0 }),
  calls: {
    add: (state, by: number) => (state.value += by),
    addThenThrow: (state) => {
      state.value += 100
      throw new RangeError('too much')
    },
    later: () => Promise.resolve(1),
    odd: () => 10n,
    time: (_state, _request: null, { nowMs }) => nowMs,
  },
})

interface Seen {
  readonly outcome: string
  readonly afterMs: number
}

const asks = defineJob<null>({ name: 'asks', retry: { maxAttempts: 1 }, timeoutMs: 100_000 })

/** One job that makes one call at +1 s; answers what it saw, and what the service did. */
async function call(
  fault: Partial<Fault> & { family?: FamilyName } = {},
  name: 'add' | 'addThenThrow' | 'time' | 'later' | 'odd' = 'add',
  give: { signalMs?: number } = {},
) {
  const seen: Seen[] = []
  const events: HistoryEvent[] = []
  const keeps: Property = property({
    name: 'keeps',
    kind: 'sometimes',
    says: '',
    blindSpot: '',
    on: ['service.called', 'fault.struck', 'node.paused', 'handler.ended'],
    suspendedBy: [],
    start: () => null,
    step: (_state, event: EventOf<'service.called'>) => void events.push(structuredClone(event)),
  })
  const asking = bench({
    name: 'asking',
    workers: 1,
    activeMs: 20_000,
    ambient: 'virtual',
    services: [counter],
    properties: [keeps],
    faults: { families: [] },
    jobs: ({ counter: port }) => [
      asks.handle(async ({ sleep }) => {
        const startedMs = Date.now()
        const gives = new AbortController()
        if (give.signalMs !== undefined)
          void sleep(give.signalMs).then(
            () => gives.abort(new Error('enough')),
            () => {},
          )
        const told = (outcome: string) => seen.push({ outcome, afterMs: Date.now() - startedMs })
        try {
          const ask = port[name] as (request: unknown, options: object) => Promise<unknown>
          told(JSON.stringify(await ask(7, { signal: gives.signal })))
        } catch (error) {
          const known = error instanceof ServiceUnavailable || error instanceof ServiceRefused
          told(known ? error.code : String(error))
        }
        await sleep(60_000)
      }),
    ],
    workload: ({ enqueue }) => enqueue(asks, null, { id: 'a', atMs: 6_000 }),
  })
  const plan: Fault[] = fault.family
    ? [{ id: 'planned', atMs: 0, node: 'w1', call: 'counter.add', service: 'counter', ...fault } as Fault]
    : []
  const { failures } = await trial(asking, { plan })
  const called = events.filter((event): event is EventOf<'service.called'> => event.type === 'service.called')
  return { seen: seen[0], called, events, failures }
}

describe('a call', () => {
  test('is one event of the history, with its job, its request and its reply', async () => {
    const { seen, called, failures } = await call()
    expect(failures).toEqual([])
    expect(seen?.outcome).toBe('7')
    expect(seen?.afterMs).toBeLessThanOrEqual(40)
    expect(called).toHaveLength(1)
    expect(called[0]).toMatchObject({ service: 'counter', call: 'add', job: 'a', epoch: 1, node: 'w1' })
    expect(called[0]).toMatchObject({ request: 7, reply: 7, error: null })
  })

  test('knows the time of the world', async () => {
    const { seen } = await call({}, 'time')
    expect(Number(seen?.outcome) - 1_767_225_600_000).toBeGreaterThan(6_000)
  })

  test('that throws changes nothing, and its caller is told what it said', async () => {
    const { seen, called } = await call({}, 'addThenThrow')
    expect(seen?.outcome).toBe('SERVICE_REFUSED')
    expect(called[0]).toMatchObject({ reply: null, error: 'RangeError: too much' })
  })

  test('that throws after it changed the state has changed nothing', () => {
    const services = createServices([counter])
    const moment = { nowMs: 0 }
    expect(services.execute(counter, 'addThenThrow', null, moment).kind).toBe('refused')
    expect(services.execute(counter, 'add', '7', moment)).toEqual({ kind: 'reply', reply: '7' })
    expect(services.execute(counter, 'add', '7', moment)).toEqual({ kind: 'reply', reply: '14' })
    // Another world begins anew.
    expect(createServices([counter]).execute(counter, 'add', '7', moment)).toEqual({
      kind: 'reply',
      reply: '7',
    })
  })

  test.each([
    ['later', /service counter: later must be synchronous/],
    ['odd', /service counter: odd: its reply has no JSON form/],
  ] as const)('that is no service call (%s) ends the run as an error', async (name, reason) => {
    const { failures } = await call({}, name)
    expect(failures[0]).toMatchObject({ kind: 'error' })
    expect(failures[0]?.message).toMatch(reason)
  })

  test('is given up when its signal fires, and lands all the same', async () => {
    const { seen, called } = await call({ family: 'service-slow-reply', lateMs: 4_000 }, 'add', {
      signalMs: 500,
    })
    expect(seen).toEqual({ outcome: 'Error: enough', afterMs: 500 })
    expect(called).toHaveLength(1)
  })
})

describe('under', () => {
  const cases: [FamilyName, Partial<Fault>, string, number, number][] = [
    ['service-lost-request', { how: 'reset' }, 'ECONNRESET', 0, 40],
    ['service-lost-request', { how: 'silent' }, 'ETIMEDOUT', 0, 5_000],
    ['service-lost-reply', { how: 'reset' }, 'ECONNRESET', 1, 40],
    ['service-lost-reply', { how: 'silent' }, 'ETIMEDOUT', 1, 5_000],
    ['service-late-request', { how: 'reset', lateMs: 9_000 }, 'ECONNRESET', 1, 40],
    ['service-late-request', { how: 'silent', lateMs: 9_000 }, 'ETIMEDOUT', 1, 5_000],
    ['service-late-request', { how: 'silent', lateMs: 1_000 }, 'ETIMEDOUT', 1, 5_000],
    ['service-slow-reply', { lateMs: 3_000 }, '7', 1, 3_040],
    ['service-slow-reply', { lateMs: 9_000 }, 'ETIMEDOUT', 1, 5_000],
    ['service-busy', {}, 'SERVICE_BUSY', 0, 40],
    ['service-refused', { forMs: 19_000 }, 'ECONNREFUSED', 0, 40],
    ['service-outage', { how: 'reset', forMs: 19_000 }, 'ECONNREFUSED', 0, 40],
    ['service-outage', { how: 'silent', forMs: 19_000 }, 'ETIMEDOUT', 0, 5_000],
    ['service-pause', { how: 'reset', forMs: 4_000 }, 'ECONNRESET', 1, 4_040],
    ['service-pause', { how: 'silent', forMs: 4_000 }, '7', 1, 4_040],
  ]
  test.each(cases)('%s %j the caller sees %s, and the service was asked %i times', async (...given) => {
    const [family, more, outcome, count, withinMs] = given
    const { seen, called, events, failures } = await call({ family, ...more })
    expect(failures).toEqual([])
    expect(seen?.outcome).toBe(outcome)
    expect(seen?.afterMs).toBeLessThanOrEqual(withinMs)
    expect(seen?.afterMs).toBeGreaterThanOrEqual(withinMs - 40)
    expect(called).toHaveLength(count)
    const struck = events.filter(({ type }) => (type as string) === 'fault.struck')
    expect(struck).toHaveLength(1)
  })

  test('a refusal of another machine nothing happens to this one', async () => {
    const { seen } = await call({ family: 'service-refused', node: 'w2', forMs: 19_000 })
    expect(seen?.outcome).toBe('7')
  })
})

test('an outage ends when the world heals: every job of the bench still ends', async () => {
  const found = await simulate(
    till(false, { faults: { families: ['service-outage', 'service-refused'], swarm: false, density: 3 } }),
    { seeds: 4, shrinkMs: 0 },
  )
  expect(found.failures.map(({ text }) => text)).toEqual([])
  expect(found.faults['service-outage']).toBeGreaterThan(0)
})

test('a fault of a service is never one of the engine: nothing is suspended by it', async () => {
  const wrong = till(false, {
    faults: { families: ['service-lost-reply', 'service-lost-request'], swarm: false },
  })
  const { properties } = await simulate(wrong, { seeds: 2, shrinkMs: 0 })
  const about = properties.find(({ name }) => name === 'lost-reply-costs-nothing')
  expect(about).toMatchObject({ applicable: false, evaluations: 0 })
  expect(serviceFamilies.filter(({ name }) => !isHarmless(name))).toEqual([])
})
