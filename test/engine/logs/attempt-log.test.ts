// How what handlers say comes into the store: in batches, before the settle, and at no one's cost.
import { describe, expect, test } from 'vitest'
import { InvalidArgument } from '../../../src/engine/errors.ts'
import type { AttemptContext } from '../../../src/engine/jobs/context.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { Metric } from '../../../src/engine/metrics.ts'
import type { LogAppend } from '../../../src/engine/ports/logs.ts'
import { type Bench, bench, gate, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

interface Held {
  readonly b: Bench
  readonly context: AttemptContext<unknown>
  readonly end: () => void
}

/** A handler that is in the hands of the test. */
async function attempt(timeoutMs = 600_000): Promise<Held> {
  const done = gate()
  const contexts: AttemptContext<unknown>[] = []
  const job = defineJob({
    name: 'job',
    timeoutMs,
    run: (context) => {
      contexts.push(context)
      return done.promise
    },
  })
  const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.settle()
  return { b, context: contexts[0] as AttemptContext<unknown>, end: () => done.open() }
}

async function lines({ database }: Bench, id = 'x'): Promise<string[]> {
  return (await database.raw.logs.tail({ id, limit: 5_000 })).lines.map(({ text }) => text)
}
const batches = ({ wire }: Bench): string[][] =>
  (wire.sent('logs.append') as LogAppend[]).map((sent) => sent.lines.map(({ text }) => text))
const calls = ({ wire }: Bench, ...which: string[]): string[] =>
  wire.calls.map(({ call }) => call).filter((call) => which.includes(call))
const count = (n: number): string[] => Array.from({ length: n }, (_, k) => `${k}`)

describe('a handler', () => {
  test('that says nothing costs nothing: no call, no timer', async () => {
    const { b, context, end } = await attempt()
    const armed = [...b.clock.armed]
    expect(context.log.info).toEqual(expect.any(Function))
    expect(b.clock.armed).toEqual(armed)
    end()
    await b.clock.advance(1_000)
    expect(batches(b)).toEqual([])
    expect((await b.database.raw.dump()).logs).toEqual([])
    await b.engine.stop()
  })

  test('says what it does at four levels, and what it says in 100 ms goes together', async () => {
    const { b, context, end } = await attempt()
    const { log } = context
    log('one', { n: 1 })
    await b.clock.advance(99)
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](level)
    expect(batches(b)).toEqual([])
    await b.clock.advance(1)
    expect(batches(b)).toEqual([['one {"n":1}', 'debug', 'info', 'warn', 'error']])
    const { lines: kept } = await b.engine.logs.tail('x')
    expect(kept.map(({ level }) => level)).toEqual(['info', 'debug', 'info', 'warn', 'error'])
    end()
    await b.engine.stop()
    expect(calls(b, 'logs.append', 'jobs.settle')).toEqual(['logs.append', 'jobs.settle'])
  })

  test('that ends at once has its lines stored before it is settled, in one call', async () => {
    const job = defineJob({
      name: 'job',
      run: ({ log }) => {
        for (const text of count(3)) log(text)
        return 'done'
      },
    })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.settle()
    expect(calls(b, 'logs.append', 'jobs.settle')).toEqual(['logs.append', 'jobs.settle'])
    expect(await lines(b)).toEqual(count(3))
    expect(b.clock.armed).not.toContain('log')
    await b.engine.stop()
  })

  test('is never thrown at, nor kept waiting, whatever it says', async () => {
    const { b, context, end } = await attempt()
    const odd = Proxy.revocable({}, {})
    odd.revoke()
    expect(context.log(odd.proxy, odd.proxy)).toBeUndefined()
    const { log } = context
    expect(log.error(new Error('broken'))).toBeUndefined()
    end()
    await b.clock.settle()
    expect(await lines(b)).toHaveLength(2)
    await b.engine.stop()
  })

  test('in a tight loop fills what there is room for, and the rest is counted', async () => {
    const { b, context, end } = await attempt()
    for (let k = 0; k < 100_000; k++) context.log(`${k}`)
    expect(b.wire.sent('logs.append')).toHaveLength(1)
    end()
    await b.clock.settle()
    const kept = await lines(b)
    expect(kept).toHaveLength(2_000)
    expect(kept.at(-1)).toBe(
      '(98000 lines were dropped here: they came faster than the store could take them)',
    )
    expect(Math.max(...batches(b).map((batch) => batch.length))).toBe(100)
    await b.engine.stop()
  })

  test('that runs on when its attempt is over is not heard', async () => {
    const { b, context, end } = await attempt(1_000)
    context.log('in time')
    await b.clock.advance(12_000)
    expect(b.of('attempt.abandoned')).toHaveLength(1)
    context.log('too late')
    await b.clock.advance(1_000)
    expect(await lines(b)).toEqual(['in time'])
    expect(b.of('log.lost')).toEqual([])
    end()
    await stopNow(b)
  })
})

describe('while an append is in flight', () => {
  test('what is said goes with the next', async () => {
    const { b, context, end } = await attempt()
    b.wire.next('logs.append', 'hang')
    context.log('first')
    await b.clock.advance(100)
    context.log('second')
    await b.clock.advance(400)
    context.log('third')
    expect(batches(b)).toEqual([['first']])
    b.wire.letGo()
    await b.clock.settle()
    expect(batches(b)).toEqual([['first'], ['second', 'third']])
    end()
    await b.engine.stop()
    expect(await lines(b)).toEqual(['first', 'second', 'third'])
  })

  test('a lost reply is repeated, and appends nothing twice (27.67)', async () => {
    const { b, context, end } = await attempt()
    b.wire.next('logs.append', 'lose-reply', 'lose-reply')
    context.log('once')
    await b.clock.advance(1_000)
    expect(b.wire.sent('logs.append')).toHaveLength(3)
    expect(await lines(b)).toEqual(['once'])
    end()
    await b.engine.stop()
  })

  test('an outage keeps what is said until it is over', async () => {
    const { b, context, end } = await attempt()
    b.wire.down()
    context.log('one')
    await b.clock.advance(8_000)
    context.log('two')
    await b.clock.advance(8_000)
    b.wire.up()
    await b.clock.advance(8_000)
    expect(await lines(b)).toEqual(['one', 'two'])
    expect(b.of('log.lost')).toEqual([])
    end()
    await b.engine.stop()
  })

  test('lines that the store will not take are lost, and the next ones are not', async () => {
    const { b, context, end } = await attempt()
    b.wire.next('logs.append', new InvalidArgument('not this'))
    context.log('bad')
    await b.clock.advance(100)
    context.log('good')
    await b.clock.advance(100)
    expect(await lines(b)).toEqual(['good'])
    expect(b.of('log.lost')).toEqual([{ type: 'log.lost', job: 'x', epoch: 1, lines: 1, why: 'refused' }])
    end()
    await b.engine.stop()
  })
})

describe('the end of an attempt', () => {
  test('waits for its lines as long as a store call, and says what was lost', async () => {
    const { b, context, end } = await attempt()
    b.wire.next('logs.append', 'hang', 'hang')
    context.log('one')
    context.log('two')
    end()
    await b.clock.advance(4_999)
    expect(b.wire.sent('jobs.settle')).toEqual([])
    await b.clock.advance(1)
    expect(b.wire.sent('jobs.settle')).toHaveLength(1)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(b.of('log.lost')).toEqual([{ type: 'log.lost', job: 'x', epoch: 1, lines: 2, why: 'unavailable' }])
    // What was still on its way comes after the end, and is refused.
    b.wire.letGo()
    await b.clock.settle()
    expect(await lines(b)).toEqual([])
    await b.engine.stop()
  })

  test('in an outage keeps its settle waiting for one store call only', async () => {
    const { b, context, end } = await attempt()
    context.log('lost')
    b.wire.down('lose-request')
    end()
    await b.clock.advance(5_000)
    expect(calls(b, 'jobs.settle')).toEqual(['jobs.settle'])
    b.wire.up()
    await b.clock.advance(60_000)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1, evictions: 0 })
    await b.engine.stop()
  })

  test('keeps its lease renewed while it waits', async () => {
    const { b, context, end } = await attempt()
    await b.clock.advance(8_000)
    b.wire.next('logs.append', 'hang')
    context.log('one')
    end()
    await b.clock.advance(4_000)
    expect(b.wire.sent('claims.renew').length).toBeGreaterThan(0)
    expect(b.wire.sent('jobs.settle')).toEqual([])
    await stopNow(b)
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded' })
  })

  test('within a stop is waited for too: nothing is left to its lease', async () => {
    const { b, context, end } = await attempt()
    context.log('before the stop')
    b.wire.next('logs.append', 'hang-reply')
    const stopped = b.engine.stop()
    end()
    await b.clock.advance(3_000)
    b.wire.letGo()
    await b.clock.advance(100)
    await stopped
    expect(await lines(b)).toEqual(['before the stop'])
    expect(await b.database.job('x')).toMatchObject({ state: 'succeeded' })
  })

  test('by a stop that is out of patience gives the job back, its lines in the store', async () => {
    const { b, context } = await attempt()
    context.log('before the stop')
    await stopNow(b)
    expect(await lines(b)).toEqual(['before the stop'])
    expect(await b.database.job('x')).toMatchObject({ state: 'queued', failures: 0, evictions: 0 })
    expect(b.clock.armed).toEqual([])
  })

  test('by commit comes after what was said before it; what is said later is lost, and told (0.13)', async () => {
    const job = defineJob({
      name: 'job',
      run: async ({ log, commit }) => {
        log('before')
        await commit(() => {
          log('within')
          return 1
        })
        log('after')
      },
    })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.advance(1_000)
    expect(calls(b, 'logs.append', 'commits.transact')).toEqual(['logs.append', 'commits.transact'])
    expect(await lines(b)).toEqual(['before'])
    expect(b.of('log.lost')).toEqual([{ type: 'log.lost', job: 'x', epoch: 1, lines: 1, why: 'fenced' }])
    expect(b.clock.armed.filter((label) => label.startsWith('log'))).toEqual([])
    await b.engine.stop()
  })

  test('by a commit that fails lets the handler go on and say more', async () => {
    const job = defineJob({
      name: 'job',
      run: async ({ log, commit }) => {
        log('before')
        await commit(() => {
          throw new Error('not now')
        }).catch(() => {})
        log('after')
      },
    })
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.engine.enqueue(job, null, { id: 'x' })
    await b.clock.advance(1_000)
    expect(await lines(b)).toEqual(['before', 'after'])
    await b.engine.stop()
  })
})

test('each attempt says its own, and the log goes on', async () => {
  const job = defineJob({
    name: 'job',
    retry: { maxAttempts: 3, backoff: { kind: 'constant', delayMs: 10 } },
    run: ({ log, attempt: { number } }) => {
      log(`attempt ${number}`)
      if (number < 3) throw new Error('again')
    },
  })
  const measured: Metric[] = []
  const b = bench({
    jobs: [job],
    queues: { default: { concurrency: 5 } },
    observer: { event: () => {}, metric: (metric) => void measured.push(metric) },
  })
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.advance(60_000)
  const { lines: kept, ...rest } = await b.engine.logs.tail('x')
  expect(kept.map(({ n, epoch, text }) => [n, epoch, text])).toEqual([
    [0, 1, 'attempt 1'],
    [1, 2, 'attempt 2'],
    [2, 3, 'attempt 3'],
  ])
  expect(rest).toEqual({ total: 3, dropped: 0, state: 'succeeded' })
  expect(measured.filter(({ name }) => name === 'log.lines')).toEqual(
    Array.from({ length: 3 }, () => ({ name: 'log.lines', queue: 'default', kind: 'job', lines: 1 })),
  )
  await b.engine.stop()
})
