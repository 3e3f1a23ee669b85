// What an operator sees of schedules and does with them.
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Ended, desk } from './holdfast.ts'

const at = desk()
const store = sqliteStore({ file: path.join(at.directory, 'jobs.db') })
const report = defineJob({ name: 'report' })
const { schedules } = createEngine({ store, jobs: [report] })
const input = null

beforeAll(async () => {
  await store.migrate()
  await schedules.put('b nightly', { job: report, input, cron: '30 2 1 1 *', timeZone: 'Europe/Berlin' })
  await schedules.put('a\u001b', {
    job: report,
    input,
    everyMs: 9_000_000,
    startAt: new Date('2100-01-01T00:00:00Z'),
    catchUp: { all: 9 },
  })
  await schedules.put('c', { job: report, input, cron: '0 0 * * *', catchUp: 'skip' })
  await schedules.pause('c')
})
afterAll(async () => {
  await store.close()
  at.clear()
})

const run = (...args: string[]): Promise<Ended> =>
  at.run(['schedules', ...args, '--file', 'jobs.db'], { DATABASE_URL: '' })
const json = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await run(...args, '--json')).stdout) as unknown
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown

describe('holdfast schedules', () => {
  test('lists them by key, and no next of one that is paused', async () => {
    const { code, stdout, stderr } = await run()
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^next +in +when +zone +catch-up +kind +schedule$/)
    expect(lines[1]).toMatch(/^2100-01-01 00:00:00Z +\d+ d +every 150 min +all 9 +report +a\\u001b$/)
    expect(lines[2]).toMatch(
      /^\d{4}-01-01 01:30:00Z +\d+ \w+ +30 2 1 1 \* +Europe\/Berlin +latest +report +b n/,
    )
    expect(lines[3]).toMatch(/^paused {2,}0 0 \* \* \* +UTC +skip +report +c$/)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(await json()).toEqual(plain(await schedules.list()))
  })

  test('goes on page by page', async () => {
    const first = await run('--limit', '2')
    expect(first.stdout).toMatch(/\n\nmore: --cursor 'b nightly'\n$/)
    const rest = await run('--limit', '2', '--cursor', 'b nightly')
    expect(rest.stdout).toMatch(/^next.*schedule\npaused.* c\n$/)
  })

  test('shows one with the slots to come, on the clock of its zone', async () => {
    const { code, stdout } = await run('b nightly', '--slots', '2')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^schedule {3}b nightly\n[^]*\nnext +\d{4}-01-01 01:30:00Z \(in /)
    expect(stdout).toMatch(
      /\n\nslot +in +Europe\/Berlin\n\d{4}-01-01 01:30:00Z +\d+ \w+ {2}\w+, 01 Jan \d{4}, 02:30:00\n.* 02:30:00\n$/,
    )
    const slots = await schedules.next({ cron: '30 2 1 1 *', timeZone: 'Europe/Berlin' }, 5)
    expect(await json('b nightly')).toEqual(plain({ schedule: await schedules.get('b nightly'), slots }))
    const every = (await run('a\u001b')).stdout.split('\n').slice(-4)
    expect(every.map((line) => line.slice(0, 20))).toEqual([
      '2100-01-01 05:00:00Z',
      '2100-01-01 07:30:00Z',
      '2100-01-01 10:00:00Z',
      '',
    ])
    expect((await run('c')).stdout).toMatch(/\nnext +paused\n[^]*\nIt is paused. If it went on now, these/)
  })

  test('pauses, resumes and removes one', async () => {
    expect(await run('pause', 'b nightly')).toEqual({
      code: 0,
      stdout: 'schedule b nightly: is paused, and makes no job until it is resumed\n',
      stderr: '',
    })
    expect(await schedules.get('b nightly')).toMatchObject({ paused: true, nextAt: null })
    expect((await run('resume', 'b nightly')).stdout).toMatch(
      /^schedule b nightly: comes next at \d{4}-01-01 01:30:00Z\n$/,
    )
    expect(await json('pause', 'b nightly')).toEqual(plain(await schedules.get('b nightly')))
    expect((await run('remove', 'c')).stdout).toBe('schedule c: is removed; the jobs that it has made stay\n')
    expect(await schedules.get('c')).toBeNull()
    expect(await json('remove', 'b nightly')).toEqual({ key: 'b nightly', removed: true })
  })

  test.concurrent.each<[readonly string[], number, RegExp]>([
    [['nobody'], 1, /: there is no schedule nobody\n$/],
    [['pause', 'nobody'], 1, /pause: there is no schedule nobody\n$/],
    [['resume', 'nobody'], 1, /resume: there is no schedule nobody\n$/],
    [['remove', 'nobody'], 1, /remove: there is no schedule nobody\n$/],
    [['pause'], 2, /missing required argument/],
    [['k'.repeat(401)], 2, /at most 400 characters/],
    [['--slots', '3'], 2, /--slots: says nothing without the key of a schedule/],
    [['a', '--limit', '3'], 2, /--limit: says nothing of one schedule/],
    [['--slots', '3', 'pause', 'a'], 2, /--slots: says nothing to pause one/],
    [['--limit', 'x'], 2, /--limit takes a whole number from 1 to 1000/],
    [['--cursor', ''], 2, /a cursor must be/],
  ])('%j is refused', async (args, code, says) => {
    expect(await run(...args)).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringMatching(says) as string,
    })
  })
})
