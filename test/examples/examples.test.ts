// The examples run as they stand, as a reader would run them: with the built package, in processes of their own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { newDatabase } from '../support/postgres/database.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-examples-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly signal: string | null
  readonly lines: readonly string[]
}

/** Runs an example; kills it with SIGKILL as soon as a line of its output says so. */
async function run(
  name: string,
  args: readonly string[],
  killAt?: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const example = spawn(process.execPath, [`examples/${name}.mjs`, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let output = ''
  for (const stream of [example.stdout, example.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      output += text
      if (killAt?.test(output)) example.kill('SIGKILL')
    })
  }
  const [code, signal] = (await once(example, 'close')) as [number | null, string | null]
  return { code, signal, lines: output.trim().split('\n') }
}

describe('the examples', () => {
  it('first-job retries once and ends', async () => {
    expect(await run('first-job', [])).toEqual({
      code: 0,
      signal: null,
      lines: ['hello world, at attempt 2'],
    })
  })

  it('operate goes on from its checkpoint, and does what the operator says', async () => {
    expect(await run('operate', [])).toEqual({
      code: 0,
      signal: null,
      lines: [
        'monday: row 0, at attempt 1',
        'monday: row 1, at attempt 1',
        'monday: row 2, at attempt 2',
        'tuesday: cancelled',
        'tuesday: queued',
        'tuesday: row 0, at attempt 1',
      ],
    })
  })

  it('logs-and-results follows a log to its end, and waits for results', async () => {
    expect(await run('logs-and-results', [])).toEqual({
      code: 0,
      signal: null,
      lines: [
        '0 info: counting {"attempt":1}',
        '1 warn: the first attempt always fails here',
        '2 info: counting {"attempt":2}',
        'hamlet: 6 words',
        'refused: JOB_FAILED, Error: never',
      ],
    })
  })

  it('survives-kill finishes on the next start what kill -9 interrupted', { timeout: 120_000 }, async () => {
    const file = path.join(directory, 'jobs.db')
    const killed = await run('survives-kill', [file], /done 20 /)
    expect(killed.signal).toBe('SIGKILL')
    const again = await run('survives-kill', [file])
    expect(again).toMatchObject({ code: 0, signal: null })
    expect(again.lines.at(-1)).toBe('all 100 are done')
    const done = new Set([...killed.lines, ...again.lines].map((line) => /^done (\d+)/.exec(line)?.[1]))
    done.delete(undefined)
    expect(done.size).toBe(100)
    // What had been settled before the kill is not run again; only what was in flight is.
    const twice = killed.lines.filter((line) => line.startsWith('done')).length + again.lines.length - 1 - 100
    expect(twice).toBeLessThanOrEqual(8)
  })

  it('exactly-once keeps each transfer once, however it is killed', { timeout: 120_000 }, async () => {
    const file = path.join(directory, 'ledger.db')
    for (const killAt of [/^[1-9]\d* entries/m, /^[4-9]\d entries/m]) {
      expect((await run('exactly-once', [file], killAt)).signal).toBe('SIGKILL')
    }
    const { code, lines } = await run('exactly-once', [file])
    expect({ code, last: lines.at(-1) }).toEqual({
      code: 0,
      last: 'all 100 are done: 100 entries, total 4950',
    })
  })

  it('explore proves what is promised, and refutes what is not', async () => {
    const { code, lines } = await run('explore/explore', [])
    expect(code).toBe(0)
    expect(lines.slice(0, 2)).toEqual([
      'pass: 2 workers, 1 job, 60 s, at most 1 deviation of {another order within an instant, lost-request, lost-reply, pause (33 s), crash (2 s)}',
      'violated: invoice-1 is started twice, by 1 deviation:',
    ])
    expect(lines[2]).toMatch(/^ {2}\+[\d.]+s, step \d+: w[12] (stands still|dies)/)
    expect(lines).toHaveLength(3)
  })

  it('postgres-exactly-once does what it says, and nothing when it is started again', async () => {
    const { url, drop } = await newDatabase()
    for (let k = 0; k < 2; k++) {
      expect(await run('postgres-exactly-once', [], undefined, { DATABASE_URL: url })).toEqual({
        code: 0,
        signal: null,
        lines: ['all are done and told: 20 entries, total 190'],
      })
    }
    await drop()
  })
})
