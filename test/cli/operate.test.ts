// What an operator does to jobs and queues from the command line, and the worker that runs a module's jobs.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { start } from '../support/processes.ts'
import { type Ended, desk } from './holdfast.ts'

const at = desk()
const module = fileURLToPath(new URL('../fixtures/jobs/hello.mjs', import.meta.url))
const broken = fileURLToPath(new URL('../fixtures/jobs/broken.mjs', import.meta.url))
const store = sqliteStore({ file: path.join(at.directory, 'jobs.db') })
const hello = defineJob({ name: 'hello', retry: { maxAttempts: 1 } })
const flaky = defineJob({ name: 'flaky', retry: { backoff: { kind: 'constant', delayMs: 0 } } })
const leaves = defineJob({ name: 'leaves' })
const other = defineJob({ name: 'other' })
const producer = createEngine({ store, jobs: [hello, flaky, leaves, other] })
beforeAll(() => store.migrate())
afterAll(async () => {
  await store.close()
  at.clear()
})

const run = (...args: string[]): Promise<Ended> =>
  at.run([...args, '--file', 'jobs.db'], { DATABASE_URL: '' })

describe('worker --once', () => {
  test('works on the job that it is told, and tells how that ended', async () => {
    await producer.enqueue(hello, 'first', { id: 'first' })
    await producer.enqueue(hello, 'second', { id: 'second' })
    expect(await run('worker', module, '--once', 'second')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^waits for job second\njob second: succeeded\n$/) as string,
    })
    expect((await producer.get('first'))?.state).toBe('queued')
    expect(await producer.get('second')).toMatchObject({ state: 'succeeded', result: '{"said":"second"}' })
  })

  test('a job that fails is told with its error, inert in a terminal', async () => {
    await producer.enqueue(hello, 'bad', { id: 'bad' })
    const { code, stderr } = await run('worker', module, '--once', 'bad')
    expect(code).toBe(1)
    expect(stderr).toContain('job bad: failed: HANDLER_ERROR Error: it\\u001b[31m broke\n')
  })

  test('it is worked on once, though it could begin again at once; and what the module keeps going ends', async () => {
    await producer.enqueue(flaky, null, { id: 'flaky' })
    const { code, stderr } = await run('worker', module, '--once', 'flaky')
    expect([code, stderr]).toEqual([
      1,
      'waits for job flaky\njob flaky: queued: HANDLER_ERROR Error: not yet\n',
    ])
    expect((await producer.get('flaky'))?.attempt).toBe(1)
  })

  test('a handler that ends the process did not succeed', async () => {
    await producer.enqueue(leaves, null, { id: 'leaves' })
    expect((await run('worker', module, '--once', 'leaves')).code).toBe(1)
  })

  test('a job that cannot be had is waited for as long as was said', async () => {
    await producer.enqueue(hello, 'later', { id: 'later', delayMs: 3_600_000 })
    const { code, stderr } = await run('worker', module, '--once', 'later', '--wait-seconds', '0')
    expect(code).toBe(3)
    expect(stderr).toContain('job later could not be had within 0 s: it is queued\n')
    expect(await run('worker', module, '--once', 'nobody')).toMatchObject({
      code: 2,
      stderr: 'error: there is no job nobody\n',
    })
    await producer.enqueue(other, null, { id: 'other' })
    expect(await run('worker', module, '--once', 'other')).toMatchObject({
      code: 2,
      stderr: 'error: job other is of kind other, which the module has no job for\n',
    })
  })
})

describe('worker', () => {
  test('works until it is told to stop, drains, and ends with 0', async () => {
    const program = new URL('../../dist/cli/main.js', import.meta.url)
    const worker = start(program, 'worker', module, '--file', path.join(at.directory, 'jobs.db'))
    await producer.enqueue(hello, 'seen', { id: 'seen' })
    while ((await producer.get('seen'))?.state !== 'succeeded');
    worker.process.kill('SIGTERM')
    expect(await worker.ended()).toBe(0)
  })

  test.each([
    [['worker', 'nowhere.mjs'], /there is no file nowhere\.mjs/],
    [['worker', broken], /broken\.mjs cannot be imported: Error: not today/],
    [['worker', module, '--queue', 'default'], /--queue takes NAME=CONCURRENCY, not "default"/],
    [['worker', module, '--queue', 'default=0'], /--queue takes NAME=CONCURRENCY/],
  ])('%j is wrong usage', async (args, says) => {
    expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(says) as string })
  })
})

describe('a word each', () => {
  test('cancel says what became of it; what cannot be cancelled is told with 1', async () => {
    await producer.enqueue(hello, 'x', { id: 'x\u001b' })
    expect(await run('cancel', 'x\u001b')).toEqual({
      code: 0,
      stdout: 'job x\\u001b: cancelled\n',
      stderr: '',
    })
    expect(await run('cancel', 'second', '--json')).toMatchObject({
      code: 1,
      stdout: '{"id":"second","state":"succeeded"}\n',
    })
    expect(await run('cancel', 'nobody')).toMatchObject({
      code: 1,
      stdout: 'job nobody: there is no such job\n',
    })
  })

  test('retry starts a failed job anew, at the version that was named; else it is refused', async () => {
    const refused = await run('retry', 'bad', '--job-version', '1')
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('asked at version 1') as string,
    })
    expect(await run('retry', 'bad')).toMatchObject({ code: 0, stdout: 'job bad: starts anew\n' })
    expect((await producer.get('bad'))?.state).toBe('queued')
  })

  test('hold, pause and unpause say how claiming stands', async () => {
    expect((await run('pause', 'a')).stdout).toMatch(/nothing is claimed of a, until: holdfast unpause a\n/)
    expect((await run('hold', '--json')).stdout).toBe('{"hold":true,"paused":["a"]}\n')
    expect((await run('pause', 'b')).stdout).toMatch(
      /by any worker, .*resume\n.* of a, .*unpause a\n.* of b, .*unpause b\n/,
    )
    await run('unpause', 'b')
    expect((await run('unpause', 'a')).stdout).toMatch(
      /^nothing is claimed, by any worker, until: holdfast resume\n$/,
    )
    expect((await run('resume')).stdout).toBe('all queues are worked on\n')
    await run('hold')
    const before = await store.dump()
    expect((await run('resume', '--restored')).stdout).toBe('all queues are worked on\n')
    expect((await store.dump()).timeline).toBeGreaterThan(before.timeline)
  })

  test('a database that cannot be reached is told with 3, one without tables with 1', async () => {
    const away = ['hold', '--database-url', 'postgres://me:secret@127.0.0.1:1/db']
    const { code, stderr } = await at.run(away, { DATABASE_URL: '' })
    expect(code).toBe(3)
    expect(stderr).not.toContain('secret')
    expect(await at.run(['hold', '--file', 'typo.db'], { DATABASE_URL: '' })).toMatchObject({
      code: 2,
      stderr: 'error: there is no file typo.db\n',
    })
    expect(existsSync(path.join(at.directory, 'typo.db'))).toBe(false)
    writeFileSync(path.join(at.directory, 'other.db'), '')
    expect(await at.run(['hold', '--file', 'other.db'], { DATABASE_URL: '' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('call migrate() first') as string,
    })
  })
})
