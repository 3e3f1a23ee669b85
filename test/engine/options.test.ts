// A misspelt option that was ignored would do something else than was asked for.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { pgliteStore } from '../../src/stores/pglite/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

const job = defineJob({ name: 'job' })
const store = memoryStore()
const engine = createEngine({ store, jobs: [job] })
const put = { job, input: 1, cron: '@daily' }
const given = <Given>(options: Given): never => options as never

describe('an option that is none is refused', () => {
  it.each<[string, (engine: Engine) => Promise<unknown>]>([
    ['delay', () => engine.enqueue(job, 1, given({ delay: 1 }))],
    ['delay', () => engine.enqueueMany([given({ job, input: 1, delay: 1 })])],
    ['client', () => engine.enqueueMany([], given({ client: 1 }))],
    ['states', () => engine.list(given({ states: 'failed' }))],
    ['state', () => engine.jobsOf({ a: 'b' }, given({ state: 'failed' }))],
    ['kinds', () => engine.deadLetters.list(given({ kinds: 'a' }))],
    ['kinds', () => engine.deadLetters.replayAll(given({ kinds: 'a' }))],
    ['restore', () => engine.resume(given({ restore: true }))],
    ['jobVersion', () => engine.retry('x', given({ jobVersion: 1 }))],
    ['delay', () => engine.reschedule('x', given({ delayMs: 1, delay: 1 }))],
    ['timezone', () => engine.schedules.put('k', given({ ...put, timezone: 'Europe/Berlin' }))],
    ['after', () => engine.schedules.list(given({ after: 'k' }))],
    ['count', () => engine.logs.tail('x', given({ count: 1 }))],
    ['offset', () => engine.logs.page('x', given({ offset: 1 }))],
    ['timeout', () => engine.result('x', given({ timeout: 1 }))],
    ['drain', () => engine.stop(given({ drain: 1 }))],
    ['ttl', () => engine.exclusive('k', async () => {}, given({ ttl: 1 }))],
  ])('%s', async (name, call) => {
    const message = new RegExp(`'${name}' is not an option; there (is|are) `)
    await expect(call(engine)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message) as string,
    })
    expect((await engine.list()).jobs).toEqual([])
  })

  it.each<[string, () => unknown]>([
    ['timezone', () => engine.schedules.next(given({ cron: '@daily', timezone: 'UTC' }), 1)],
  ])('of a trigger: %s', async (_name, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'SCHEDULE_INVALID' })
  })

  it.each<[string, () => unknown]>([
    ['queue', () => createEngine(given({ store, queue: {} }))],
    ['retries', () => defineJob(given({ name: 'a', retries: 3 }))],
    ['maxAttempt', () => defineJob({ name: 'a', retry: given({ maxAttempt: 3 }) })],
    ['ttl', () => engine.lead('k', async () => {}, given({ ttl: 1 }))],
    ['schema', () => memoryStore(given({ schema: 'x' }))],
    ['synchronus', () => sqliteStore({ file: ':memory:' }, given({ synchronus: 'full' }))],
    ['callMs', () => sqliteStore(given({ file: ':memory:', callMs: 1 }))],
    ['schema', () => postgresStore(given({ connectionString: 'postgres://localhost/x', schema: 'y' }))],
    ['pool', () => postgresStore({ connectionString: 'postgres://localhost/x' }, given({ pool: 1 }))],
    ['schema', () => pgliteStore(given({ database: {}, schema: 'y' }))],
  ])('%s of what is made', (name, make) => {
    expect(make).toThrow(`'${name}' is not an option`)
  })
})
