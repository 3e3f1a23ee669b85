// A codec between the engine and the store: what is stored, what the handler and the caller get, and what happens
// when it fails (contract 0.23, 0.17; cases X04).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createEngine } from '../../../src/engine/engine.ts'
import { CodecFailed, IdConflict, PermanentFailure } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { Codec } from '../../../src/engine/ports/codec.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { type Bench, type BenchOptions, bench, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const marker = 'S3CR3T-4711'
const queues = { default: { concurrency: 5 } }

const zipped = (json: string): string => gzipSync(json).toString('base64')
const unzipped = (stored: string): string => gunzipSync(Buffer.from(stored, 'base64')).toString()
const gzip: Codec = { encode: zipped, decode: unzipped }

/** A fresh nonce each time: two texts of one input are never the same. */
function aesGcm(key = randomBytes(32)): Codec {
  return {
    encode: async (json) => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const sealed = Buffer.concat([cipher.update(json, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
    },
    decode: async (stored) => {
      const bytes = Buffer.from(stored, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
    },
  }
}

const echo = defineJob({
  name: 'echo',
  input: z.object({ secret: z.string() }),
  retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 0 } },
  run: async ({ input, checkpoint, attempt }) => {
    if (attempt.number === 1) {
      await checkpoint('kept', { again: input.secret })
      throw new Error('once more')
    }
    return { input, kept: await checkpoint('kept') }
  },
})

const working = (codec: Codec, options: BenchOptions = {}): Bench =>
  bench({ jobs: [echo], queues, codec, ...options })

describe.each([
  ['gzip', () => gzip],
  ['AES-GCM', () => aesGcm()],
])('%s', (_name, make) => {
  it('is applied to inputs, results and checkpoints, and to nothing that handler and caller see', async () => {
    const b = working(make())
    await b.engine.start()
    await b.engine.enqueue(echo, { secret: marker }, { id: 'x' })
    await b.clock.advance(2_000)
    const input = JSON.stringify({ secret: marker })
    const result = JSON.stringify({ input: { secret: marker }, kept: { again: marker } })
    const job = await b.engine.get('x')
    expect(job).toMatchObject({ state: 'succeeded', attempt: 2, result, spec: { input } })
    const dump = await b.database.raw.dump()
    expect(JSON.stringify(dump)).not.toContain(marker)
    expect(dump.checkpoints).toHaveLength(1)
    await stopNow(b)
  })

  it('leaves no result none', async () => {
    const silent = defineJob({ name: 'silent', run: () => {} })
    const b = bench({ jobs: [silent], queues, codec: make() })
    await b.engine.start()
    await b.engine.enqueue(silent, null, { id: 'x' })
    await b.clock.settle()
    expect(await b.engine.get('x')).toMatchObject({ state: 'succeeded', result: null })
    expect(await b.engine.get('nobody')).toBeNull()
    await stopNow(b)
  })
})

it('what is encrypted is nowhere in the database file', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-codec-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const store = sqliteStore({ file: path.join(directory, 'jobs.db') })
  await store.migrate()
  const engine = createEngine({ store, jobs: [echo], queues, codec: aesGcm() })
  const done = new Promise<void>((resolve) => {
    engine.on('attempt.confirmed', ({ epoch }) => void (epoch === 2 && resolve()))
  })
  await engine.enqueue(echo, { secret: marker }, { id: 'x' })
  await engine.start()
  await done
  expect((await engine.get('x'))?.result).toContain(marker)
  await engine.stop()
  await store.close()
  const files = readdirSync(directory)
  expect(files).toContain('jobs.db')
  for (const file of files) {
    const bytes = readFileSync(path.join(directory, file))
    expect(bytes.includes('echo') || file !== 'jobs.db').toBe(true)
    expect(bytes.includes(marker)).toBe(false)
  }
})

describe('an id that is taken', () => {
  const plain = defineJob<unknown>({ name: 'plain' })
  const other = defineJob<unknown>({ name: 'other' })

  it('is the same job where the inputs say the same, whatever they look like in the store (0.17)', async () => {
    const b = bench({ codec: aesGcm() })
    expect(await b.engine.enqueue(plain, { a: 1, b: 2 }, { id: 'x' })).toEqual({ id: 'x', created: true })
    expect(await b.engine.enqueue(plain, { b: 2, a: 1 }, { id: 'x' })).toEqual({ id: 'x', created: false })
  })

  it('is a conflict where kind or input differ, and then nothing of the batch is inserted', async () => {
    const b = bench({ codec: aesGcm() })
    await b.engine.enqueueMany([
      { job: plain, input: 1, id: 'same' },
      { job: plain, input: 1, id: 'differs' },
      { job: other, input: 1, id: 'kind' },
    ])
    const batch = b.engine.enqueueMany([
      { job: plain, input: 'new', id: 'new' },
      { job: plain, input: 1, id: 'same' },
      { job: plain, input: 2, id: 'differs' },
      { job: plain, input: 1, id: 'kind' },
    ])
    await expect(batch).rejects.toMatchObject({ code: 'ID_CONFLICT', ids: ['differs', 'kind'] })
    await expect(batch).rejects.toThrow(IdConflict)
    expect((await b.database.raw.dump()).jobs).toHaveLength(3)
  })

  it('leaves the rest of the batch to be inserted, in the order asked', async () => {
    const b = bench({ codec: aesGcm() })
    await b.engine.enqueue(plain, 1, { id: 'b' })
    const batch = ['c', 'b', 'a'].map((id) => ({ job: plain, input: 1, id }))
    expect(await b.engine.enqueueMany(batch)).toEqual([
      { id: 'c', created: true },
      { id: 'b', created: false },
      { id: 'a', created: true },
    ])
    expect(await b.engine.enqueueMany(batch)).toEqual(batch.map(({ id }) => ({ id, created: false })))
  })

  it('is judged again where another producer came between', async () => {
    const codec = aesGcm()
    const b = bench({ codec })
    const rival = bench({ codec, clock: b.clock, database: b.database })
    await rival.engine.enqueue(plain, 1, { id: 'a' })
    let came = false
    const { get } = b.engine.store.jobs
    const store = {
      ...b.engine.store,
      jobs: {
        ...b.engine.store.jobs,
        get: async (params: { id: string }) => {
          if (!came) await rival.engine.enqueue(plain, 2, { id: 'b' })
          came = true
          return get(params)
        },
      },
    }
    const engine = createEngine({ store, codec, clock: b.clock })
    const batch = (input: number) => [
      { job: plain, input: 1, id: 'a' },
      { job: plain, input, id: 'b' },
    ]
    await expect(engine.enqueueMany(batch(3))).rejects.toMatchObject({ ids: ['b'] })
    expect((await b.database.raw.dump()).jobs).toHaveLength(2)
    expect(await engine.enqueueMany(batch(2))).toEqual([
      { id: 'a', created: false },
      { id: 'b', created: false },
    ])
  })
})

describe('a codec that fails', () => {
  const broken = (decode: Codec['decode']): Codec => ({ encode: zipped, decode })
  const quotes = (stored: string): never => {
    throw new Error(`cannot read ${unzipped(stored)}`)
  }

  it.each<[string, Codec['decode']]>([
    ['throws', quotes],
    ['rejects', async (stored) => quotes(stored)],
    ['answers no JSON', (stored) => `${unzipped(stored)}}`],
    ['answers no text', () => 7 as never],
    [
      'throws what cannot be read',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        throw proxy
      },
    ],
  ])('and %s is a failure like any other, and shows nothing of the payload (X04)', async (_how, decode) => {
    const b = working(broken(decode))
    await b.engine.start()
    await b.engine.enqueue(echo, { secret: marker }, { id: 'x' })
    await b.clock.advance(2_000)
    const job = await b.database.job('x')
    expect(job).toMatchObject({ state: 'failed', failures: 2, error: { code: 'CODEC_FAILED' } })
    expect(JSON.stringify([job, b.events])).not.toContain(marker)
    await stopNow(b)
  })

  it('for a while costs retries, not the job', async () => {
    let down = true
    const decode = (stored: string): string | Promise<string> => {
      if (!down) return unzipped(stored)
      down = false
      throw new Error('the key service does not answer')
    }
    const job = defineJob({ name: 'job', run: ({ input }) => input })
    const b = bench({ jobs: [job], queues, codec: broken(decode) })
    await b.engine.start()
    await b.engine.enqueue(job, 5, { id: 'x' })
    await b.clock.advance(5_000)
    expect(await b.engine.get('x')).toMatchObject({ state: 'succeeded', failures: 1, result: '5' })
    await stopNow(b)
  })

  it('for good says so with PermanentFailure', async () => {
    const decode = (): never => {
      throw new PermanentFailure('the key was destroyed')
    }
    const b = working(broken(decode))
    await b.engine.start()
    await b.engine.enqueue(echo, { secret: marker }, { id: 'x' })
    await b.clock.advance(2_000)
    const error = { code: 'PERMANENT_FAILURE', message: 'the key was destroyed' }
    expect(await b.database.job('x')).toMatchObject({ state: 'failed', failures: 1, error })
    await stopNow(b)
  })

  it('at enqueue stores nothing; of get it tells the caller', async () => {
    const fails: Codec = {
      encode: (json) => {
        throw new Error(json)
      },
      decode: quotes,
    }
    const b = bench({ codec: fails })
    const enqueued = b.engine.enqueue(echo, { secret: marker }, { id: 'x' })
    await expect(enqueued).rejects.toThrow(CodecFailed)
    await expect(enqueued).rejects.toThrow('the codec could not encode the input of job echo')
    expect((await b.database.raw.dump()).jobs).toEqual([])
    const writer = bench({ codec: gzip, clock: b.clock, database: b.database })
    await writer.engine.enqueue(echo, { secret: marker }, { id: 'x' })
    await expect(b.engine.get('x')).rejects.toThrow('the codec could not decode the input of job x')
  })

  it('with a result fails the attempt, and the handler runs again', async () => {
    let fails = 1
    const encode = (json: string): string | Promise<string> => {
      if (json === '"done"' && fails-- > 0) throw new Error('not now')
      return zipped(json)
    }
    const job = defineJob({ name: 'job', run: () => 'done' })
    const b = bench({ jobs: [job], queues, codec: { encode, decode: unzipped } })
    await b.engine.start()
    await b.engine.enqueue(job, 5, { id: 'x' })
    await b.clock.advance(5_000)
    expect(await b.engine.get('x')).toMatchObject({ state: 'succeeded', failures: 1, result: '"done"' })
    await stopNow(b)
  })

  it.each(['a\0b', '\uD800'])('and answers %j is refused: no store could keep it', async (text) => {
    const b = bench({ codec: { encode: () => text, decode: (stored) => stored } })
    await expect(b.engine.enqueue(echo, { secret: 's' })).rejects.toThrow(CodecFailed)
  })
})

it('the size that counts is that of what is stored (0.23)', async () => {
  const big = defineJob<string>({ name: 'big' })
  const long = 'x'.repeat(2_000_000)
  await expect(bench().engine.enqueue(big, long)).rejects.toThrow('over the limit')
  expect(await bench({ codec: gzip }).engine.enqueue(big, long, { id: 'x' })).toMatchObject({ created: true })
  const swelling: Codec = { encode: (json) => json.repeat(3), decode: (stored) => stored }
  await expect(bench({ codec: swelling }).engine.enqueue(big, 'x'.repeat(500_000))).rejects.toThrow(
    'over the limit',
  )
})
