import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { failure } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, states, stores } from './support.ts'

trapUnhandledRejections()

const texts: readonly (readonly [string, string])[] = [
  ['NUL', 'a\0b'],
  ['a lone surrogate', 'a\ud800b'],
  ['the literal text of an escape', 'a\\u0000b \\ud800'],
]
/** What the system itself writes: the same, or with a mark where it could not be kept. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD')

describe.each(stores)('X01 on %s', (_name, open) => {
  describe.each(texts)('%s', (_what, text) => {
    test('comes through payload, result and checkpoint unchanged, and beside it everything goes on', async () => {
      const all = fleet(open)
      const seen: unknown[] = []
      const echo = defineJob<unknown>({
        name: 'echo',
        run: async ({ input, checkpoint }) => {
          await checkpoint('key', input)
          seen.push(input, await checkpoint('key'))
          return input
        },
      })
      const a = all.process({ jobs: [echo] })
      const value = { [text]: [text] }
      await a.engine.enqueueMany([
        { job: echo, input: 'before', id: 'before' },
        { job: echo, input: value, id: 'x' },
        { job: echo, input: 'after', id: 'after' },
      ])
      await a.engine.start()
      await all.clock.advance(100)
      expect(seen).toContainEqual(value)
      expect(seen.filter((item) => item === 'before' || item === 'after')).toHaveLength(4)
      expect(JSON.parse((await all.database.job('x')).result ?? 'null')).toEqual(value)
      expect(await a.engine.enqueue(echo, value, { id: 'x' })).toEqual({ id: 'x', created: false })
      const kept = await all.database.raw.jobs.checkpoints({ id: 'x' })
      expect(kept.map((entry) => JSON.parse(entry.value) as unknown)).toEqual([value])
      expect(await states(all.database)).toEqual({ succeeded: 3 })
      await all.stop()
    })

    test('in an error, its stack and a progress is marked where it cannot be kept, and the job ends', async () => {
      const all = fleet(open)
      const fails = defineJob({
        name: 'fails',
        retry: { maxAttempts: 1 },
        run: async ({ progress, log, job: { id } }) => {
          log(text, { [text]: text })
          await progress(50, text)
          if (id === 'x') throw Object.assign(new Error(text), { stack: `at ${text}` })
        },
      })
      const a = all.process({ jobs: [fails] })
      await a.engine.enqueueMany(['before', 'x', 'after'].map((id) => ({ job: fails, input: null, id })))
      await a.engine.start()
      await all.clock.advance(100)
      expect(await all.database.job('x')).toMatchObject({
        state: 'failed',
        error: { code: 'HANDLER_ERROR', message: storable(`Error: ${text}`), stack: storable(`at ${text}`) },
        progress: { percent: 50, phase: storable(text) },
      })
      const { lines } = await a.engine.logs.tail('x')
      expect(lines.map((line) => line.text)).toEqual([
        `${storable(text)} ${JSON.stringify({ [text]: text })}`,
      ])
      expect(await states(all.database)).toEqual({ failed: 1, succeeded: 2 })
      expect(all.told('attempt.confirmed').map(({ settled }) => settled)).toEqual([
        'applied',
        'applied',
        'applied',
      ])
      await all.stop()
    })

    test('in metadata is kept unchanged', async () => {
      const all = fleet(open)
      const job = defineJob({ name: 'job' })
      await all.process().engine.enqueue(job, null, { id: 'x', metadata: { [text]: text } })
      expect((await all.database.job('x')).spec.metadata).toEqual({ [text]: text })
    })
  })

  test.each(texts.slice(0, 2))('%s in a name is refused before anything is stored', async (_what, text) => {
    const all = fleet(open)
    const { engine, wire } = all.process()
    const job = defineJob({ name: 'job' })
    const refused = [
      engine.enqueue(job, null, { id: text }),
      engine.enqueue(job, null, { queue: text }),
      engine.pause(text),
      engine.get(text),
      engine.cancel(text),
      engine.exclusive(text, async () => {}),
    ]
    for (const call of refused) expect(await failure(call)).toMatchObject({ code: 'INVALID_ARGUMENT' })
    for (const options of [{ name: text }, { name: 'job', queue: text }]) {
      expect(() => defineJob(options)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
    }
    expect(wire.calls).toEqual([])
  })

  test('the literal text of an escape is a name like any other', async () => {
    const all = fleet(open)
    const name = 'a\\u0000b \\ud800'
    const job = defineJob({ name, queue: name, run: () => 'ran' })
    const a = all.process({ jobs: [job], queues: { [name]: { concurrency: 1 } } })
    await a.engine.enqueue(job, null, { id: name })
    await a.engine.start()
    await all.clock.advance(100)
    expect(await a.engine.get(name)).toMatchObject({ state: 'succeeded', result: '"ran"' })
    await all.stop()
  })
})
