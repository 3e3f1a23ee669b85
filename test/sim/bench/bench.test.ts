// What bench and service refuse, and what they make by default.
import { describe, expect, test } from 'vitest'
import { InvalidConfig } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { exactlyOnceClaim } from '../../../src/properties/index.ts'
import { type BenchOptions, bench, service, simulate } from '../../../src/sim/index.ts'
import { chargedOnce, order, payments, till } from './support.ts'

const job = order.handle(async () => 1)
const whole = { name: 'mine', jobs: [job], workload: () => {} }

describe('a bench is refused, naming the field, with', () => {
  test.each<[object | null, RegExp]>([
    [null, /bench's options must be an object/],
    [{}, /bench: name must be a string/],
    [{ ...whole, name: '' }, /bench: name/],
    [{ ...whole, module: 'here' }, /bench mine: module must be a URL/],
    [{ ...whole, jobs: undefined }, /bench mine: jobs must be a list or a function/],
    [{ ...whole, jobs: [7] }, /bench mine: jobs: number 0 must be a definition made by defineJob, not 7/],
    [{ ...whole, jobs: [] }, /bench mine: jobs has none with a handler/],
    [{ ...whole, jobs: [defineJob({ name: 'a' })] }, /bench mine: jobs has none with a handler/],
    [{ ...whole, jobs: [job, job] }, /bench mine: jobs has two of one name/],
    [{ ...whole, jobs: () => null }, /bench mine: jobs must be a list/],
    [{ ...whole, workload: [] }, /bench mine: workload must be a function/],
    [{ ...whole, workers: 0 }, /bench mine: workers must be a whole number from 1/],
    [{ ...whole, concurrency: 1.5 }, /bench mine: concurrency/],
    [{ ...whole, activeMs: '5' }, /bench mine: activeMs/],
    [{ ...whole, ambient: 'real' }, /bench mine: ambient must be 'refuse' or 'virtual', not 'real'/],
    [{ ...whole, intervals: { sweep: 1 } }, /bench mine: intervals: sweep is not an interval/],
    [{ ...whole, faults: [] }, /bench mine: faults must be an object/],
    [{ ...whole, faults: { families: 'crash' } }, /bench mine: faults.families must be a list/],
    [
      { ...whole, faults: { families: ['flood'] } },
      /bench mine: faults.families: there is no 'flood'; there are .*crash/,
    ],
    [{ ...whole, faults: { families: ['service-outage'] } }, /service-outage needs services/],
    [{ ...whole, faults: { density: 0 } }, /bench mine: faults.density/],
    [{ ...whole, faults: { swarm: 1 } }, /bench mine: faults.swarm/],
    [{ ...whole, properties: chargedOnce }, /bench mine: properties must be a list/],
    [{ ...whole, properties: [null] }, /properties: number 0 must be made by property/],
    [{ ...whole, properties: [{ ...chargedOnce, name: 'no spaces please' }] }, /must have a name of letters/],
    [
      { ...whole, properties: [{ ...chargedOnce, kind: 'never' }] },
      /\('charged-once'\): kind must be one of/,
    ],
    [{ ...whole, properties: [{ ...chargedOnce, blindSpot: undefined }] }, /blindSpot must be a sentence/],
    [{ ...whole, properties: [{ ...chargedOnce, on: [] }] }, /on must name the events/],
    [{ ...whole, properties: [{ ...chargedOnce, step: null }] }, /step must be a function/],
    [{ ...whole, properties: [chargedOnce, chargedOnce] }, /properties has two named 'charged-once'/],
    [
      { ...whole, properties: [exactlyOnceClaim] },
      /'exactly-once-claim' is the name of a promise of the engine/,
    ],
    [{ ...whole, services: payments }, /bench mine: services must be a list/],
    [{ ...whole, services: [{}] }, /bench mine: services: number 0 must be made by service/],
    [{ ...whole, services: [payments, payments] }, /bench mine: services has two named 'payments'/],
  ])('%j', (options, reason) => {
    expect(() => bench(options as BenchOptions<readonly []>)).toThrow(InvalidConfig)
    expect(() => bench(options as BenchOptions<readonly []>)).toThrow(reason)
  })
})

describe('a service is refused, naming the field, with', () => {
  const calls = { ask: () => 1 }
  const state = () => null
  test.each<[object, RegExp]>([
    [{ name: '', state, calls }, /service: name must be letters/],
    [{ name: 'a.b', state, calls }, /service: name must be letters/],
    [{ name: 'jobs', state, calls }, /'jobs' is one of the store's own/],
    [{ name: 's', state: {}, calls }, /service s: state must be a function/],
    [{ name: 's', state }, /service s: calls must be an object/],
    [{ name: 's', state, calls: {} }, /service s: calls must have at least one/],
    [{ name: 's', state, calls: { 'a b': () => 1 } }, /service s: calls must be named by letters/],
    [{ name: 's', state, calls: { ask: 1 } }, /service s: calls.ask must be a function/],
    [{ name: 's', state, calls, timeoutMs: 0 }, /service s: timeoutMs/],
  ])('%j', (options, reason) => {
    expect(() => service(options as never)).toThrow(InvalidConfig)
    expect(() => service(options as never)).toThrow(reason)
  })
})

test('by default all families are on under which the handlers run as they are', () => {
  const { families, swarm, workers, concurrency, activeMs, ambient } = bench(whole)
  expect({ swarm, workers, concurrency, activeMs, ambient }).toEqual({
    swarm: true,
    workers: 3,
    concurrency: 5,
    activeMs: 300_000,
    ambient: 'refuse',
  })
  expect(families).toEqual(expect.arrayContaining(['crash', 'outage-long', 'handler-rejects-late']))
  expect(families.filter((name) => /^(operator|service-|handler-(?!rejects))/.test(name))).toEqual([])
  expect(till(false).families).toEqual(expect.arrayContaining(['service-lost-reply', 'service-outage']))
})

test('the ports have the types of their services', () => {
  const made = bench({
    name: 'typed',
    services: [payments],
    jobs: ({ payments: port }) => [
      order.handle(async ({ job, signal }) => {
        // @ts-expect-error -- a request of another shape
        const wrong = port.charge({ order: 7 }, { signal })
        // @ts-expect-error -- there is no such call
        const none: unknown = port.refund
        const paid: { repeated: boolean } = await port.charge({ key: 'k', order: job.id })
        return [await wrong, none, paid]
      }),
    ],
    // @ts-expect-error -- the input of that job has cents
    workload: ({ enqueue }) => enqueue(order, { euros: 1 }, { id: 'a' }),
  })
  expect(made.jobs.map(({ name }) => name)).toEqual(['order'])
})

describe('what only shows in a run is an error of it, naming the field', () => {
  const told = async (over: Partial<BenchOptions<readonly []>>): Promise<string | undefined> => {
    const { verdict, failures } = await simulate(bench({ ...whole, ...over }), { seeds: 1 })
    expect(verdict).toBe('violated')
    expect(failures[0]?.kind).toBe('error')
    return failures[0]?.message
  }

  test('a workload that answers something, or enqueues what cannot be', async () => {
    expect(await told({ workload: () => [] as never })).toMatch(
      /workload must call enqueue, and answer nothing/,
    )
    const atMs = Number.NaN
    expect(
      await told({ workload: ({ enqueue }) => enqueue(order, { cents: 1 }, { id: 'a', atMs }) }),
    ).toMatch(/workload of scenario mine: step 0: atMs must be a number of ms/)
    expect(await told({ workload: ({ enqueue }) => enqueue(order, { cents: 1 }, {} as never) })).toMatch(
      /step 0: options.id must be a string/,
    )
  })

  test('jobs that are others each time', async () => {
    let k = 0
    const other = () => [defineJob({ name: `job-${k++}`, run: async () => 1 })]
    expect(await told({ jobs: other })).toMatch(
      /bench mine: jobs must name the same each time .*job-0, then job-\d/,
    )
  })
})
