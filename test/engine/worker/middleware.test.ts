import { describe, expect, it } from 'vitest'
import { PermanentFailure } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { JobRecord } from '../../../src/engine/jobs/record.ts'
import type { Middleware } from '../../../src/engine/worker/middleware.ts'
import { bench } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

/** Runs one attempt within the middleware; answers what became of the job, and what was noted. */
async function run(
  middleware: (notes: unknown[]) => readonly Middleware[],
  handler: () => unknown = () => 'result',
): Promise<{ job: JobRecord; notes: unknown[] }> {
  const notes: unknown[] = []
  const job = defineJob({
    name: 'job',
    retry: { maxAttempts: 1 },
    run: () => {
      notes.push('handler')
      return handler()
    },
  })
  const b = bench({ jobs: [job], queues: { default: { concurrency: 1 } }, middleware: middleware(notes) })
  await b.engine.start()
  await b.engine.enqueue(job, 7, { id: 'x' })
  await b.clock.settle()
  const record = await b.database.job('x')
  await b.engine.stop()
  expect(b.clock.armed).toEqual([])
  return { job: record, notes }
}

describe('middleware (0.24)', () => {
  it('wraps the handler in its order, the first outermost, and hands on what it returns', async () => {
    const layer =
      (name: string, notes: unknown[]): Middleware =>
      async (_context, next) => {
        notes.push(`${name} before`)
        const value = await next()
        notes.push(`${name} after`)
        return `${name}(${String(value)})`
      }
    const { job, notes } = await run((notes) => [layer('a', notes), layer('b', notes)])
    expect(notes).toEqual(['a before', 'b before', 'handler', 'b after', 'a after'])
    expect(job).toMatchObject({ state: 'succeeded', result: '"a(b(result))"' })
  })

  it('sees the context of the attempt, and the error of the handler, which it may turn into another', async () => {
    const { job, notes } = await run(
      (notes) => [
        async ({ input, job: { id }, attempt: { number } }, next) => {
          notes.push([input, id, number])
          return next().catch((error: unknown) => {
            notes.push(error)
            throw new PermanentFailure('translated', { cause: error })
          })
        },
      ],
      () => {
        throw new RangeError('mine')
      },
    )
    expect(notes).toEqual([[7, 'x', 1], 'handler', new RangeError('mine')])
    expect(job).toMatchObject({
      state: 'failed',
      error: { code: 'PERMANENT_FAILURE', message: 'translated' },
    })
  })

  it('may answer in place of the handler', async () => {
    const { job, notes } = await run(() => [async () => 'cached'])
    expect(notes).toEqual([])
    expect(job).toMatchObject({ state: 'succeeded', result: '"cached"' })
  })

  it('may swallow the error of the handler', async () => {
    const { job } = await run(
      () => [async (_context, next) => next().catch(() => 'recovered')],
      () => Promise.reject(new Error('mine')),
    )
    expect(job).toMatchObject({ state: 'succeeded', result: '"recovered"', failures: 0 })
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('broken'))],
    [
      'throws at once',
      () => {
        throw new Error('broken')
      },
    ],
  ])('that %s fails the attempt, without the handler', async (_what, broken) => {
    const { job, notes } = await run(() => [broken])
    expect(notes).toEqual([])
    expect(job).toMatchObject({ state: 'failed', failures: 1, error: { message: 'Error: broken' } })
  })

  it('that calls next twice has the second refused: a handler runs once an attempt', async () => {
    const twice: Middleware = async (_context, next) => {
      await next()
      return next()
    }
    const { job, notes } = await run(() => [twice])
    expect(notes).toEqual(['handler'])
    expect(job).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('next() twice') },
    })
    const both = await run(() => [
      async (_context, next) => {
        const [first, second] = await Promise.allSettled([next(), next()])
        return [first.status, second.status]
      },
    ])
    expect(both.notes).toEqual(['handler'])
    expect(both.job.result).toBe('["fulfilled","rejected"]')
  })

  it('calls next anew in each attempt, and each layer may call its own', async () => {
    let attempts = 0
    const layer: Middleware = async (_context, next) => next()
    const job = defineJob({
      name: 'job',
      run: () => {
        attempts += 1
        if (attempts < 3) throw new Error('again')
      },
    })
    const b = bench({
      jobs: [job],
      queues: { default: { concurrency: 1 } },
      middleware: [layer, layer],
    })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.advance(60_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 3 })
    await b.engine.stop()
  })

  it('does not see an input that its schema refuses', async () => {
    const seen: unknown[] = []
    const layer: Middleware = async (context, next) => {
      seen.push(context.input)
      return next()
    }
    const job = defineJob({
      name: 'job',
      upgradeInput: () => {
        throw new Error('cannot upgrade')
      },
      inputVersion: 2,
      retry: { maxAttempts: 1 },
      run: () => {},
    })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 1 } }, middleware: [layer] })
    await b.engine.start()
    await b.engine.enqueue(defineJob<unknown>({ name: 'job', retry: { maxAttempts: 1 } }), 1, { id: 'x' })
    await b.clock.settle()
    expect(seen).toEqual([])
    expect((await b.database.job('x')).state).toBe('failed')
    await b.engine.stop()
  })
})
