// What JavaScript passes that the types would not let through: refused with a typed error that says what was wrong.
import { describe, expect, it } from 'vitest'
import type { Engine, EngineOptions } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { HoldfastError } from '../../src/engine/errors.ts'
import { type JobOptions, defineJob } from '../../src/engine/jobs/definition.ts'
import type { AttemptContext } from '../../src/engine/jobs/context.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { bench, database, failure } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'

trapUnhandledRejections()

const job = defineJob({ name: 'job', run: () => {} })
/** Any value, as what the types ask for. */
const as = (value: unknown): never => value as never
const unreadable = new Proxy({}, { get: () => throwing(), ownKeys: () => throwing() })
function throwing(): never {
  throw new Error('unreadable')
}

/** A refusal that a caller can act on: typed, with its stable code, and saying what it is about. */
function expectRefusal(error: unknown, code: string, says: RegExp): void {
  expect(error).toBeInstanceOf(HoldfastError)
  expect(error).toMatchObject({ code, message: expect.stringMatching(says) })
}

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('expected it to throw')
}

describe('createEngine refuses', () => {
  const store = database(virtualClock()).raw
  const given = (over: object): EngineOptions => ({ store, jobs: [job], ...over })
  it.each<[string, EngineOptions, RegExp]>([
    ['nothing', as(undefined), /createEngine's options must be an object, not undefined/],
    ['no store', as({}), /store must be .* not undefined/],
    ['a store that is none', as({ store: {} }), /store must be .* not an object/],
    ['jobs that are no list', given({ jobs: 'job' }), /jobs must be a list of definitions, not 'job'/],
    ['jobs that are null', given({ jobs: null }), /jobs must be a list of definitions, not null/],
    ['a job that is none', given({ jobs: [job, undefined] }), /made by defineJob, not undefined/],
    ['a job by its name', given({ jobs: ['job'] }), /made by defineJob, not 'job'/],
    ['queues that are null', given({ queues: null }), /queues must be an object, not null/],
    ['queues that are a list', given({ queues: ['default'] }), /queues must be an object, not a list/],
    ['a queue that is null', given({ queues: { a: null } }), /queue a must be an object, not null/],
    ['a queue that is a number', given({ queues: { a: 5 } }), /queue a must be an object, not 5/],
    ['a concurrency in text', given({ queues: { a: { concurrency: '5' } } }), /concurrency .* not '5'/],
    ['no concurrency', given({ queues: { a: {} } }), /concurrency .* not undefined/],
    ['a concurrency of NaN', given({ queues: { a: { concurrency: Number.NaN } } }), /concurrency .* not NaN/],
    ['intervals that are null', given({ intervals: null }), /intervals must be an object, not null/],
    ['intervals that are a number', given({ intervals: 5 }), /intervals must be an object, not 5/],
    ['an interval of its own', given({ intervals: { pollsMs: 5 } }), /pollsMs is not an interval/],
    [
      'an interval that every object has',
      given({ intervals: { toString: 5 } }),
      /toString is not an interval/,
    ],
    ['an interval in text', given({ intervals: { pollMs: '5' } }), /pollMs must be .* not '5'/],
    ['an interval of null', given({ intervals: { pollMs: null } }), /pollMs must be .* not null/],
    ['an interval of 1n', given({ intervals: { pollMs: 1n } }), /pollMs must be .* not 1n/],
    ['an interval of Infinity', given({ intervals: { pollMs: Infinity } }), /pollMs must be .* not Infinity/],
    ['an interval that is a symbol', given({ intervals: { pollMs: Symbol('s') } }), /not Symbol\(s\)/],
    ['a name that is a number', given({ name: 5 }), /an engine name must be a string/],
    ['an observer that is none', given({ observer: () => {} }), /observer must have a method event/],
    ['an observer of null', given({ observer: null }), /observer must have a method event, not be null/],
    ['a codec of null', given({ codec: null }), /codec must have methods encode and decode, not be null/],
    ['half a codec', given({ codec: { encode: () => '' } }), /codec must have methods encode and decode/],
    ['middleware that is no list', given({ middleware: () => {} }), /middleware must be a list of functions/],
    ['middleware that is no function', given({ middleware: [5] }), /middleware must be a list of functions/],
  ])('%s', (_what, options, says) => {
    expectRefusal(
      thrownBy(() => createEngine(options)),
      'INVALID_CONFIG',
      says,
    )
  })
})

describe('defineJob refuses', () => {
  const given = (over: object): JobOptions<unknown, unknown> => as({ name: 'job', ...over })
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /defineJob's options must be an object, not undefined/],
    ['a name alone', 'job', /defineJob's options must be an object, not 'job'/],
    ['a handler that is none', given({ run: 5 }), /run must be a function, not 5/],
    [
      'an upgrade that is none',
      given({ upgradeInput: {} }),
      /upgradeInput must be a function, not an object/,
    ],
    ['an input that is no schema', given({ input: { type: 'string' } }), /input must be a Standard Schema/],
    ['an input of null', given({ input: null }), /input must be a Standard Schema.* not null/],
    ['retry of null', given({ retry: null }), /retry must be an object, not null/],
    ['a backoff of null', given({ retry: { backoff: null } }), /backoff must be an object, not null/],
    [
      'a backoff of its own',
      given({ retry: { backoff: { kind: 'slow' } } }),
      /backoff.kind must be one of .*'slow'/,
    ],
    [
      'jitter in text',
      given({ retry: { backoff: { kind: 'constant', delayMs: 1, jitter: 'no' } } }),
      /jitter/,
    ],
    [
      'a delay in text',
      given({ retry: { backoff: { kind: 'constant', delayMs: '5' } } }),
      /delayMs .* not '5'/,
    ],
    ['maxAttempts in text', given({ retry: { maxAttempts: '3' } }), /maxAttempts .* not '3'/],
    ['a lease of 1n', given({ leaseTtlMs: 1n }), /leaseTtlMs .* not 1n/],
    ['a priority of its own', given({ priority: 'urgent' }), /priority must be one of .* not 'urgent'/],
  ])('%s', (_what, options, says) => {
    expectRefusal(
      thrownBy(() => defineJob(as(options))),
      'INVALID_CONFIG',
      says,
    )
  })

  it.each([5, null, undefined, {}])('a handler given later that is %s', (run) => {
    expectRefusal(
      thrownBy(() => defineJob({ name: 'job' }).handle(as(run))),
      'INVALID_CONFIG',
      /run must be a function/,
    )
  })
})

describe('the engine refuses, before it asks the store anything', () => {
  const calls: readonly [string, (engine: Engine) => unknown, RegExp][] = [
    ['to enqueue nothing', (e) => e.enqueue(as(undefined), 1), /made by defineJob, not undefined/],
    ['to enqueue null', (e) => e.enqueue(as(null), 1), /made by defineJob, not null/],
    ['to enqueue by name', (e) => e.enqueue(as('job'), 1), /made by defineJob, not 'job'/],
    ['to enqueue what looks like a job', (e) => e.enqueue(as({ name: 'job' }), 1), /made by defineJob/],
    ['to enqueue the unreadable', (e) => e.enqueue(as(unreadable), 1), /made by defineJob/],
    ['options of null', (e) => e.enqueue(job, 1, as(null)), /options must be an object, not null/],
    ['options of text', (e) => e.enqueue(job, 1, as('x')), /options must be an object, not 'x'/],
    [
      'an instant in text',
      (e) => e.enqueue(job, 1, { runAt: as('2030-01-01') }),
      /runAt must be a Date, not '2030-01-01'/,
    ],
    ['an instant in ms', (e) => e.enqueue(job, 1, { runAt: as(5) }), /runAt must be a Date, not 5/],
    ['an instant of null', (e) => e.enqueue(job, 1, { runAt: as(null) }), /runAt must be a Date, not null/],
    [
      'an instant that looks like one',
      (e) => e.enqueue(job, 1, { runAt: as({ getTime: () => 5 }) }),
      /runAt must be a Date/,
    ],
    ['a delay in text', (e) => e.enqueue(job, 1, { delayMs: as('5') }), /delayMs .* not '5'/],
    ['a delay of null', (e) => e.enqueue(job, 1, { delayMs: as(null) }), /delayMs .* not null/],
    ['a delay of 5n', (e) => e.enqueue(job, 1, { delayMs: as(5n) }), /delayMs .* not 5n/],
    ['a lease in text', (e) => e.enqueue(job, 1, { leaseTtlMs: as('60000') }), /leaseTtlMs .* not '60000'/],
    ['an id that is a number', (e) => e.enqueue(job, 1, { id: as(5) }), /a job id must be a string/],
    ['an id of null', (e) => e.enqueue(job, 1, { id: as(null) }), /a job id must be a string/],
    ['a queue that is a number', (e) => e.enqueue(job, 1, { queue: as(5) }), /a queue name must be a string/],
    [
      'many that are none',
      (e) => e.enqueueMany(as(undefined)),
      /enqueueMany takes a list of requests, not undefined/,
    ],
    [
      'many that are one',
      (e) => e.enqueueMany(as({ job, input: 1 })),
      /takes a list of requests, not an object/,
    ],
    [
      'a request that is none',
      (e) => e.enqueueMany([as(undefined)]),
      /a request must be an object, not undefined/,
    ],
    ['to get nothing', (e) => e.get(as(undefined)), /a job id must be a string/],
    ['to get a number', (e) => e.get(as(5)), /a job id must be a string/],
    ['to cancel nothing', (e) => e.cancel(as(undefined)), /a job id must be a string/],
    ['to retry nothing', (e) => e.retry(as(undefined)), /a job id must be a string/],
    ['to retry with null', (e) => e.retry('x', as(null)), /options must be an object, not null/],
    ['to retry a version in text', (e) => e.retry('x', { version: as('1') }), /version must be .* not '1'/],
    ['to retry version NaN', (e) => e.retry('x', { version: Number.NaN }), /version must be .* not NaN/],
    [
      'to reschedule nothing',
      (e) => e.reschedule(as(undefined), { delayMs: 1 }),
      /a job id must be a string/,
    ],
    [
      'to reschedule to no time',
      (e) => e.reschedule('x', as(undefined)),
      /options must be an object, not undefined/,
    ],
    ['to reschedule to null', (e) => e.reschedule('x', as({ delayMs: null })), /delayMs .* not null/],
    ['to pause nothing', (e) => e.pause(as(undefined)), /a queue name must be a string/],
    ['to unpause a number', (e) => e.unpause(as(5)), /a queue name must be a string/],
    [
      'exclusive work under no key',
      (e) => e.exclusive(as(undefined), async () => {}),
      /a lease key must be a string/,
    ],
    [
      'exclusive work that is none',
      (e) => e.exclusive('k', as(undefined)),
      /work must be a function, not undefined/,
    ],
    [
      'exclusive options of null',
      (e) => e.exclusive('k', async () => {}, as(null)),
      /options must be an object, not null/,
    ],
    [
      'a named lease in text',
      (e) => e.exclusive('k', async () => {}, { ttlMs: as('60000') }),
      /ttlMs .* not '60000'/,
    ],
    [
      'a named lease of NaN',
      (e) => e.exclusive('k', async () => {}, { ttlMs: Number.NaN }),
      /ttlMs .* not NaN/,
    ],
    ['to drain for NaN', (e) => e.stop({ drainMs: Number.NaN }), /drainMs .* not NaN/],
    ['to drain for text', (e) => e.stop({ drainMs: as('5') }), /drainMs .* not '5'/],
    ['to drain for null', (e) => e.stop({ drainMs: as(null) }), /drainMs .* not null/],
    ['to stop with a number', (e) => e.stop(as(5)), /options must be an object, not 5/],
  ]
  it.each(calls)('%s', async (_what, call, says) => {
    const { engine, wire } = bench()
    expectRefusal(await failure(Promise.resolve(call(engine))), 'INVALID_ARGUMENT', says)
    expect(wire.calls).toEqual([])
  })

  it.each<[string, unknown, unknown, RegExp]>([
    ['an event that there is not', 'job.done', () => {}, /no event 'job.done'; there are .*attempt\.ended/],
    ['an event that every object has', 'toString', () => {}, /no event 'toString'/],
    ['no event', undefined, () => {}, /no event undefined/],
    ['a listener that is none', 'engine.started', 5, /a listener must be a function, not 5/],
  ])('to listen for %s', (_what, type, listener, says) => {
    const { engine } = bench()
    expectRefusal(
      thrownBy(() => engine.on(as(type), as(listener))),
      'INVALID_ARGUMENT',
      says,
    )
  })
})

describe('a handler is refused', () => {
  const calls: readonly [string, (context: AttemptContext<unknown>) => Promise<unknown>, RegExp][] = [
    ['progress in text', ({ progress }) => progress(as('50')), /progress is .* not '50'/],
    ['progress of nothing', ({ progress }) => progress(as(undefined)), /progress is .* not undefined/],
    ['a phase that is a number', ({ progress }) => progress(5, as(5)), /a phase must be a string, not 5/],
    ['a checkpoint without a key', ({ checkpoint }) => checkpoint(as(undefined)), /a checkpoint key must be/],
    ['sleep in text', ({ sleep }) => sleep(as('5')), /not '5'/],
    ['sleep for nothing', ({ sleep }) => sleep(as(undefined)), /not undefined/],
  ]
  it.each(calls)('%s', async (_what, call, says) => {
    const errors: unknown[] = []
    const tries = defineJob({
      name: 'tries',
      run: async (context) => {
        await call(context).catch((error: unknown) => errors.push(error))
      },
    })
    const b = bench({ jobs: [tries], queues: { default: { concurrency: 1 } } })
    await b.engine.start()
    await b.engine.enqueue(tries, null)
    await b.clock.advance(10)
    expect(errors).toHaveLength(1)
    expectRefusal(errors[0], 'INVALID_ARGUMENT', says)
    await b.engine.stop()
  })
})

describe('sqliteStore refuses', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /takes \{ file \} or \{ database \}, not undefined/],
    ['a path', 'jobs.db', /takes \{ file \} or \{ database \}, not 'jobs.db'/],
    ['neither', {}, /takes \{ file \} or \{ database \}, not an object/],
    ['a file that is no text', { file: 5 }, /file must be a path, not 5/],
    [
      'a handle that is none',
      { database: {} },
      /database must be a Database of better-sqlite3, not an object/,
    ],
  ])('%s', (_what, target, says) => {
    expectRefusal(
      thrownBy(() => sqliteStore(as(target))),
      'INVALID_CONFIG',
      says,
    )
  })
})
