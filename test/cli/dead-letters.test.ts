// What an operator does about dead letters: looks at them, replays and discards them.
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/engine/api.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { PermanentFailure } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Ended, desk } from './holdfast.ts'

const at = desk()
const dies = (name: string, queue: string) =>
  defineJob({
    name,
    queue,
    run: () => {
      throw new PermanentFailure('not\u001b today')
    },
  })
const [mail, print] = [dies('mail', 'default'), dies('print', 'slow')]
const ends = defineJob({ name: 'ends', run: () => 1 })
let store: Store
let engine: Engine
let file: string
afterAll(at.clear)

let round = 0
/** a and b of mail, c of print: dead, in this order; d is none. */
beforeEach(async () => {
  file = `${++round}.db`
  store = sqliteStore({ file: path.join(at.directory, file) })
  const queues = { default: { concurrency: 1 }, slow: { concurrency: 1 } }
  engine = createEngine({ store, jobs: [mail, print, ends], queues })
  await store.migrate()
  await engine.start()
  for (const [id, job] of [
    ['a', mail],
    ['b', mail],
    ['c', print],
    ['d', ends],
  ] as const) {
    await engine.enqueue(job, null, { id })
    await engine.result(id).catch(() => null)
  }
  await engine.stop()
})
afterEach(() => store.close())

const run = (...args: string[]): Promise<Ended> =>
  at.run(['dead-letters', ...args, '--file', file], { DATABASE_URL: '' })
const json = (text: string): unknown => JSON.parse(text) as unknown
const dead = async (): Promise<string[]> => (await engine.deadLetters.list()).jobs.map(({ spec }) => spec.id)

describe('holdfast dead-letters', () => {
  test('lists them, the longest dead first, page by page', async () => {
    const { code, stdout, stderr } = await run('--limit', '2')
    expect([code, stderr]).toEqual([0, ''])
    const [table = '', more = ''] = stdout.split('\n\n')
    const rows = table.split('\n').map((line) => line.trim().split(/ {2,}/))
    const why = String.raw`PERMANENT_FAILURE not\u001b today`
    expect(rows.map((row) => row.slice(1))).toEqual([
      ['attempts', 'kind', 'queue', 'why', 'job'],
      ['1', 'mail', 'default', why, 'a'],
      ['1', 'mail', 'default', why, 'b'],
    ])
    const cursor = /^more: --cursor (\S+)\n$/.exec(more)?.[1] ?? ''
    const rest = await run('--limit', '2', '--cursor', cursor)
    expect(rest.stdout).toMatch(new RegExp(`^died .*\n\\d+ s ago +1 +print +slow .* c\n$`))
    expect(json((await run('--limit', '2', '--json')).stdout)).toEqual(
      await engine.deadLetters.list({ limit: 2 }),
    )
  })

  test('filters by kind and queue', async () => {
    expect(json((await run('--kind', 'print', '--json')).stdout)).toEqual(
      await engine.deadLetters.list({ kind: 'print' }),
    )
    expect((await run('--kind', 'mail', '--queue', 'slow')).stdout).toBe('there is no such dead letter\n')
  })

  test('shows one whole', async () => {
    const { code, stdout } = await run('a')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^job +a\n[^]*\ndead letter +since .* ago\)\nwhy +PERMANENT_FAILURE not/)
    expect(json((await run('a', '--json')).stdout)).toEqual({
      job: await engine.deadLetters.get('a'),
      events: await engine.events('a'),
    })
  })

  test('replays those that are named, and says as what; again it says the same', async () => {
    expect(await run('replay', 'a', 'c')).toEqual({
      code: 0,
      stdout: `job a: replayed as a~r1\njob c: replayed as c~r1\n`,
      stderr: '',
    })
    expect(await dead()).toEqual(['b'])
    expect((await engine.get(`a~r1`))?.state).toBe('queued')
    const again = await run('replay', 'a')
    expect([again.code, again.stdout]).toEqual([0, `job a: was replayed before, as a~r1\n`])
  })

  test('what is refused of one keeps no other from it, and is told with 1', async () => {
    const { code, stdout, stderr } = await run('replay', 'd', 'nobody', 'b', '--json')
    expect(code).toBe(1)
    expect(stderr.split('\n')).toEqual([
      `error: replay: job d is succeeded, and only a dead letter can be replayed`,
      'error: replay: there is no job nobody',
      '',
    ])
    const error = { code: 'COMMAND_REFUSED', message: 'replay: there is no job nobody' }
    expect(json(stdout)).toEqual({
      replays: [
        { job: 'd', error: expect.objectContaining({ code: 'COMMAND_REFUSED' }) as object },
        { job: 'nobody', error },
        { job: 'b', id: `b~r1`, created: true },
      ],
    })
  })

  test('discards those that are named', async () => {
    const { code, stdout, stderr } = await run('discard', 'a', 'd')
    expect(code).toBe(1)
    expect(stdout).toBe(`job a: is a dead letter no more, and stays failed\n`)
    expect(stderr).toMatch(/^error: discard: job d is succeeded, and only a dead letter/)
    expect(await dead()).toEqual(['b', 'c'])
    expect(json((await run('discard', 'b', '--json')).stdout)).toEqual({
      discards: [{ job: 'b', discarded: true }],
    })
  })

  test('replays all that the filters let through, and ends with 1 while some are left', async () => {
    expect(await run('replay', '--all', '--limit', '1', '--kind', 'mail')).toMatchObject({
      code: 1,
      stdout: '1 dead letter replayed\nthere may be more: run it again for the rest\n',
    })
    // An option before the word is one of it, too.
    expect(await run('--kind', 'mail', 'replay', '--all')).toMatchObject({
      code: 0,
      stdout: '1 dead letter replayed\n',
    })
    expect(await dead()).toEqual(['c'])
    const { code, stdout } = await run('replay', '--all', '--json')
    expect([code, json(stdout)]).toEqual([0, { replayed: 1, gone: 0, taken: 0, complete: true }])
  })

  test('one whose id is taken is left, and told with 1', async () => {
    await engine.enqueue(ends, null, { id: `a~r1` })
    expect(await run('replay', '--all')).toEqual({
      code: 1,
      stdout: `2 dead letters replayed\n1 left, since the id of the replay is another job's: retry them instead\n`,
      stderr: '',
    })
    expect((await run('replay', 'a')).stderr).toMatch(/belongs to another job; retry job a instead/)
  })

  test('what is none is told so', async () => {
    await engine.deadLetters.replay('a')
    expect(await run('a')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: SQLite ${file}: job a is no dead letter, it is replayed as a~r1; see it with: holdfast jobs a\n`,
    })
    expect((await run('nobody')).stderr).toBe(`error: SQLite ${file}: there is no job nobody\n`)
  })

  test('wrong usage changes nothing, and is told with 2', async () => {
    for (const [line, says] of [
      ['replay', /give either ids or --all/],
      [`replay a --all`, /give either ids or --all/],
      [`replay a --kind mail`, /--kind: says nothing without --all/],
      [`--cursor x replay --all`, /--cursor: says nothing of a replay/],
      [`--limit 3 discard a`, /--limit: says nothing of a discard/],
      [`discard`, /missing required argument/],
      [`discard a ${'x'.repeat(513)}`, /a job id must be a string of 1 to 512/],
      [`a --limit 3`, /--limit: says nothing of one dead letter/],
      ['--limit 0', /--limit takes a whole number from 1 to 1000/],
      ['--cursor x', /cursor must be the next of a page, not 'x'/],
      ['--nonsense', /unknown option/],
    ] as const) {
      const { code, stdout, stderr } = await run(...line.split(' '))
      expect([line, code, stdout]).toEqual([line, 2, ''])
      expect(stderr).toMatch(says)
    }
    expect(await dead()).toEqual(['a', 'b', 'c'])
  })
})
