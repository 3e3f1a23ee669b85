// What an operator sees of jobs: lists, one job, counts; and what jobs have said.
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { execFile } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Ended, desk, readOneLine } from './holdfast.ts'

const at = desk()
const file = path.join(at.directory, 'jobs.db')
const store = sqliteStore({ file })
const once = { maxAttempts: 1 }
const says = defineJob<{ to: string; text?: string }>({
  name: 'says',
  retry: once,
  run: ({ input, log }) => {
    log(`to ${input.to}`)
    log.warn('two\nlines \u001b[31m')
    if (input.to === 'nobody') throw new Error('it\u001b[31m broke')
    return { sent: input.to }
  },
})
let goOn = (): void => {}
const gone = new Promise<void>((resolve) => (goOn = resolve))
const waits = defineJob({
  name: 'waits',
  run: async ({ log, progress }) => {
    log('begins')
    await progress(40, 'half\u001b way')
    await gone
    log('ends')
  },
})
const other = defineJob({ name: 'long-winded', queue: 'other' })
let talking = true
const talks = defineJob({
  name: 'talks',
  run: async ({ log }) => {
    while (talking) {
      log('more')
      await setImmediate()
    }
  },
})
const engine = createEngine({
  store,
  jobs: [says, waits, talks, other],
  queues: { default: { concurrency: 4 } },
  name: 'web',
})

beforeAll(async () => {
  await store.migrate()
  await engine.enqueue(says, { to: 'a' }, { id: 'good', tenant: 'shop', keys: { order: ['7', '8'] } })
  await engine.enqueue(says, { to: 'nobody' }, { id: 'bad\u001b' })
  await engine.enqueue(says, { to: 'a', text: 'y'.repeat(5_000) }, { id: 'big' })
  await engine.enqueue(waits, null, { id: 'running' })
  await engine.enqueue(other, null, { id: 'later', delayMs: 7_200_000 + 60_000 })
  await engine.start()
  await engine.result('good')
  await engine.result('big')
  await engine.result('bad\u001b').catch(() => null)
  while ((await engine.get('running'))?.progress === null);
})
afterAll(async () => {
  goOn()
  talking = false
  await engine.stop()
  await store.close()
  at.clear()
})

const run = (...args: string[]): Promise<Ended> =>
  at.run([...args, '--file', 'jobs.db'], { DATABASE_URL: '' })
const json = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await run(...args, '--json')).stdout) as unknown
/** Without what the time makes of it. */
const timeless = (text: string): string =>
  text.replaceAll(/\d+ s\b/g, 'N s').replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{3})?Z/g, 'T')

describe('holdfast jobs', () => {
  test('lists jobs, the newest first, in 100 columns', async () => {
    const { code, stdout, stderr } = await run('jobs')
    expect([code, stderr]).toEqual([0, ''])
    const lines = timeless(stdout).split('\n')
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
      'state | when | attempt | kind | queue | why | job',
      'queued | in 2 h | 0 | long-winded | other | later',
      'running | for N s | 1 | waits | default | running',
      'succeeded | N s ago | 1 | says | default | big',
      String.raw`dead letter | N s ago | 1 | says | default | Error: it\u001b[31m broke | bad\u001b`,
      'succeeded | N s ago | 1 | says | default | good',
      '',
    ])
  })

  test('cuts what is too wide, and never an id', async () => {
    const id = `i-${'d'.repeat(34)}`
    await engine.enqueue(other, null, { id, delayMs: 3_600_000 })
    const { stdout } = await run('jobs')
    const widths = stdout.split('\n').map((line) => line.length)
    expect(Math.max(...widths)).toBe(100)
    expect(stdout).toMatch(new RegExp(`long-[a-z]*\\.\\.\\. .* ${id}\n`))
    await engine.cancel(id)
  })

  test('goes on page by page, each job once', async () => {
    const seen: string[] = []
    let more: string[] = []
    do {
      const { stdout } = await run('jobs', '--limit', '2', '--kind', 'says', '--kind', 'waits', ...more)
      const [table = '', rest] = stdout.split('\n\n')
      seen.push(
        ...table
          .trim()
          .split('\n')
          .slice(1)
          .map((line) => line.split(/ {2,}/).at(-1) ?? ''),
      )
      more = rest === undefined ? [] : (/^more: (--cursor) (\S+)\n$/.exec(rest) ?? []).slice(1)
    } while (more.length > 0 && seen.length < 9)
    expect(seen).toEqual(['running', 'big', String.raw`bad\u001b`, 'good'])
  })

  test('filters as engine.list does, and prints its page as JSON', async () => {
    const filters = ['--state', 'succeeded', '--queue', 'default', '--tenant', 'shop', '--key', 'order=8']
    const page = await engine.list({ keys: { order: '8' }, payloads: false })
    expect(page.jobs).toHaveLength(1)
    expect(await json('jobs', ...filters)).toEqual(page)
    expect((await run('jobs', ...filters, '--key', 'order=9')).stdout).toBe('there is no such job\n')
  })

  test('counts what waits, runs and is a dead letter', async () => {
    const { stdout } = await run('jobs', '--counts')
    expect(stdout.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '))).toEqual([
      'due delayed undispatched running dead queue',
      '0 0 0 1 1 default',
      '0 1 0 0 0 other',
      '',
    ])
    expect(await json('jobs', '--counts')).toEqual({ queues: await engine.counts() })
  })

  test('shows one whole: what it carries, how it failed, what became of it', async () => {
    const { code, stdout } = await run('jobs', 'bad\u001b')
    expect(code).toBe(0)
    const text = timeless(stdout)
    for (const line of [
      String.raw`job          bad\u001b`,
      'queue        default, priority normal',
      'dead letter  since T (N s ago)',
      String.raw`why          Error: it\u001b[31m broke`,
      'attempts     1 (1 failure of 1, 0 lost leases of 3)',
      'input        {"to":"nobody"}',
      String.raw`T  failed, attempt 1: Error: it\u001b[31m broke`,
      'T  ended: failed, attempt 1',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
    expect(text).toMatch(/\n {4}at .*run/)
    const good = timeless((await run('jobs', 'good')).stdout)
    expect(good).toContain('\nkeys      order:7, order:8, tenant=shop\n')
    expect(good).toContain('\nresult    {"sent":"a"}\n')
    const running = timeless((await run('jobs', 'running')).stdout)
    expect(running).toMatch(/\nclaimed by {2}web~/)
    expect(running).toContain(`\n${String.raw`progress    40 %, half\u001b way`}\n`)
  })

  test('cuts a large payload for people, and not for programs', async () => {
    const { stdout } = await run('jobs', 'big')
    expect(stdout).toContain('yyy... (5,020 characters; all of it: --json)\n')
    expect(stdout.length).toBeLessThan(3_000)
    expect(await json('jobs', 'big')).toEqual({
      job: await engine.get('big'),
      events: await engine.events('big'),
    })
  })

  test.concurrent.each<[readonly string[], number, RegExp]>([
    [['jobs', 'nobody'], 1, /^error: SQLite jobs\.db: there is no job nobody\n$/],
    [['jobs', ''], 2, /a job id must be a string of 1 to 512/],
    [['jobs', 'good', 'big'], 2, /too many arguments/],
    [['jobs', 'good', '--state', 'failed', '--counts'], 2, /--state, --counts: says nothing of one job/],
    [['jobs', '--counts', '--limit', '1'], 2, /--limit: says nothing beside --counts/],
    [['jobs', '--state', 'lost'], 2, /state must be of queued, .*not 'lost'/],
    [['jobs', '--limit', '0'], 2, /--limit takes a whole number from 1 to 1000, not "0"/],
    [['jobs', '--limit', '1001'], 2, /--limit takes a whole number/],
    [['jobs', '--cursor', 'x'], 2, /cursor must be/],
    [['jobs', '--key', 'x'], 2, /--key takes DIMENSION=VALUE, not "x"/],
    [['jobs', '--key', '__proto__=x'], 2, /a key's dimension is/],
    [['jobs', '--kind', ''], 2, /a kind must be/],
    [['logs', 'nobody'], 1, /there is no job nobody/],
    [['logs', 'nobody', '--follow'], 1, /there is no job nobody/],
    [['logs'], 2, /missing required argument/],
    [['logs', 'good', '--tail', '0'], 2, /--tail takes a whole number/],
  ])('%j is refused', async (args, code, error) => {
    expect(await run(...args)).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringMatching(error) as string,
    })
    expect((await run(...args, '--json')).code).toBe(code)
  })
})

describe('holdfast logs', () => {
  test('prints what a job has said, inert, each line under its own', async () => {
    const { code, stdout, stderr } = await run('logs', 'good')
    expect([code, stderr]).toEqual([0, ''])
    expect(timeless(stdout)).toBe(
      `T  info   to a\nT  warn   two\n${' '.repeat(33)}${String.raw`lines \u001b[31m`}\n`,
    )
    expect((await run('logs', 'later')).stderr).toBe('job later has said nothing\n')
    expect(await json('logs', 'good')).toEqual(await engine.logs.page('good'))
  })

  test('of the end only, with --tail', async () => {
    expect(timeless((await run('logs', 'good', '--tail', '1')).stdout)).toMatch(/^T {2}warn {3}two\n/)
    expect(await json('logs', 'good', '--tail', '1')).toEqual(await engine.logs.tail('good', { limit: 1 }))
  })

  test('of many pages, and says what is not kept, and where another attempt begins', async () => {
    const chatty = defineJob({
      name: 'chatty',
      retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 0 } },
      run: ({ log, attempt }) => {
        if (attempt.number === 2) return log('again')
        for (let n = 0; n < 990; n++) log(`line ${n}`)
        throw new Error('not yet')
      },
    })
    const talker = createEngine({ store, jobs: [chatty], queues: { default: { concurrency: 1 } } })
    await talker.enqueue(chatty, null, { id: 'chatty' })
    await talker.start()
    await talker.result('chatty')
    await talker.stop()
    const lines = (await run('logs', 'chatty')).stdout.trim().split('\n')
    expect(lines).toHaveLength(992)
    expect(lines.at(-2)).toBe('-- another attempt')
    const { lines: kept } = (await json('logs', 'chatty')) as { lines: { n: number }[] }
    expect(kept.map(({ n }) => n)).toEqual([...Array(991).keys()])
  })

  test('a reader that has seen enough ends it', async () => {
    await engine.enqueue(talks, null, { id: 'talks' })
    const { code, stderr } = await readOneLine(['logs', 'talks', '--follow', '--file', file], at.directory)
    talking = false
    expect([code, stderr]).toEqual([0, ''])
  })

  test('--follow goes on until the job has ended, and says how', async () => {
    const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
    const ended = new Promise<Ended>((resolve) => {
      const args = [main, 'logs', 'running', '--follow', '--file', file]
      const child = execFile(process.execPath, args, (error, stdout, stderr) =>
        resolve({ code: error ? null : 0, stdout, stderr }),
      )
      // What is said from now on was not there when it began.
      child.stdout?.once('data', () => goOn())
    })
    const { code, stdout, stderr } = await ended
    expect([code, timeless(stdout), stderr]).toEqual([
      0,
      'T  info   begins\nT  info   ends\n',
      'job running: succeeded\n',
    ])
    expect((await run('logs', 'running', '--follow', '--json')).stdout.trim().split('\n')).toEqual(
      (await engine.logs.page('running')).lines.map((line) => JSON.stringify(line)),
    )
  })
})
