// Reading and following what jobs say.
import { describe, expect, test } from 'vitest'
import { InvalidArgument, JobMissing, StoreUnavailable } from '../../../src/engine/errors.ts'
import type { AttemptContext } from '../../../src/engine/jobs/context.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { LogLine } from '../../../src/engine/ports/logs.ts'
import { type Bench, bench, failure, gate } from '../../support/bench.ts'

async function running(): Promise<{ b: Bench; context: AttemptContext<unknown>; end: () => void }> {
  const done = gate()
  const contexts: AttemptContext<unknown>[] = []
  const job = defineJob({
    name: 'job',
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

/** Reads on, to the end. */
function followed(lines: AsyncIterable<LogLine>): { seen: string[]; ended: Promise<unknown> } {
  const seen: string[] = []
  const read = async (): Promise<string> => {
    for await (const { text } of lines) seen.push(text)
    return 'ended'
  }
  const ended = read().catch((error: unknown) => error)
  return { seen, ended }
}

test('tail and page read what is there, 100 lines unless told otherwise', async () => {
  const { b, context, end } = await running()
  for (let k = 0; k < 250; k++) context.log(`${k}`)
  await b.clock.advance(100)
  const texts = (lines: readonly LogLine[]): string[] => lines.map(({ text }) => text)
  expect(texts((await b.engine.logs.tail('x')).lines)).toEqual(
    Array.from({ length: 100 }, (_, k) => `${150 + k}`),
  )
  expect(texts((await b.engine.logs.tail('x', { limit: 2 })).lines)).toEqual(['248', '249'])
  expect((await b.engine.logs.page('x')).lines).toHaveLength(100)
  expect(texts((await b.engine.logs.page('x', { from: 7, limit: 1 })).lines)).toEqual(['7'])
  expect(await b.engine.logs.tail('nobody')).toEqual({ lines: [], total: 0, dropped: 0, state: null })
  end()
  await b.engine.stop()
})

test.each([0, -1, 1.5, 1_001, '1', null])('a limit of %o is refused', async (limit) => {
  const { engine } = bench()
  await expect(engine.logs.tail('x', { limit: limit as number })).rejects.toThrow(InvalidArgument)
  await expect(engine.logs.page('x', { limit: limit as number })).rejects.toThrow(InvalidArgument)
})

test.each([-1, 1.5, '1', null])('a start of %o is refused', async (from) => {
  const { engine } = bench()
  await expect(engine.logs.page('x', { from: from as number })).rejects.toThrow(InvalidArgument)
  expect(() => engine.logs.follow('x', { from: from as number })).toThrow(InvalidArgument)
})

describe('follow', () => {
  test('tells what is there and what comes, once and in order, and ends with the job', async () => {
    const { b, context, end } = await running()
    for (let k = 0; k < 900; k++) context.log(`${k}`)
    await b.clock.advance(100)
    const { seen, ended } = followed(b.engine.logs.follow('x'))
    await b.clock.settle()
    expect(seen).toHaveLength(900)
    context.log('while it is watched')
    await b.clock.advance(400)
    expect(seen).toHaveLength(901)
    context.log('at the end')
    end()
    await b.clock.advance(5_000)
    expect(await ended).toBe('ended')
    expect(seen).toEqual([
      ...Array.from({ length: 900 }, (_, k) => `${k}`),
      'while it is watched',
      'at the end',
    ])
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })

  test('begins where it is told to', async () => {
    const { b, context, end } = await running()
    for (const text of ['a', 'b', 'c']) context.log(text)
    end()
    await b.clock.advance(100)
    const { seen, ended } = followed(b.engine.logs.follow('x', { from: 2 }))
    await ended
    expect(seen).toEqual(['c'])
    await b.engine.stop()
  })

  test('asks a silent job less and less often, and often again when it has spoken', async () => {
    const { b, context, end } = await running()
    const { seen, ended } = followed(b.engine.logs.follow('x'))
    const asked = (): number => b.wire.sent('logs.page').length
    await b.clock.advance(60_000)
    expect(asked()).toBeLessThan(20)
    context.log('a word')
    while (seen.length === 0) await b.clock.advance(100)
    const before = asked()
    await b.clock.advance(800)
    expect(asked() - before).toBe(2)
    end()
    await b.clock.advance(6_000)
    await ended
    await b.engine.stop()
  })

  test('waits for the end of an outage', async () => {
    const { b, context, end } = await running()
    const { seen, ended } = followed(b.engine.logs.follow('x'))
    await b.clock.advance(1_000)
    b.wire.down()
    context.log('in the outage')
    await b.clock.advance(20_000)
    b.wire.up()
    await b.clock.advance(10_000)
    end()
    await b.clock.advance(10_000)
    expect(await ended).toBe('ended')
    expect(seen).toEqual(['in the outage'])
    await b.engine.stop()
  })

  test('throws the reason of its signal, and keeps no timer', async () => {
    const { b, end } = await running()
    const stop = new AbortController()
    const { ended } = followed(b.engine.logs.follow('x', { signal: stop.signal }))
    await b.clock.advance(1_000)
    stop.abort(new Error('enough'))
    expect(await ended).toEqual(new Error('enough'))
    end()
    await b.engine.stop()
    expect(b.clock.armed).toEqual([])
  })

  test('of a job that is not there is JobMissing', async () => {
    const { engine } = bench()
    await expect(followed(engine.logs.follow('nobody')).ended).resolves.toBeInstanceOf(JobMissing)
  })

  test('ends with what the store will never answer', async () => {
    const b = bench()
    b.wire.next('logs.page', new InvalidArgument('never'))
    expect(await followed(b.engine.logs.follow('x')).ended).toBeInstanceOf(InvalidArgument)
  })
})

test('tail and page of a store that is away reject', async () => {
  const b = bench({ bare: true })
  b.wire.down()
  expect(await failure(b.engine.logs.tail('x'))).toBeInstanceOf(StoreUnavailable)
  expect(await failure(b.engine.logs.page('x'))).toBeInstanceOf(StoreUnavailable)
})
