import { afterAll, describe, expect, test } from 'vitest'
import { desk, fixture, lineWith } from './holdfast.ts'

const { run, clear } = desk()
afterAll(clear)
const leaks = fixture('leaks')
const breaks = fixture('breaks')

interface Json {
  readonly verdict: string
  readonly failures: readonly { kind: string; seed: string; message: string; scenario: string | null }[]
}

async function simulated(file: string, scenario: string, ...more: string[]) {
  const ended = await run(['simulate', file, '--scenario', scenario, '--seed', '7', '--json', ...more])
  return { ...ended, json: JSON.parse(ended.stdout) as Json }
}

describe('what a handler asks of the machine ends as nondeterministic, at its line', () => {
  test.concurrent.each([
    ['math-random', 'Math.random'],
    ['date-now', 'Date.now'],
    ['new-date', 'new Date()'],
    ['set-timeout', 'setTimeout'],
    ['random-uuid', 'crypto.randomUUID'],
    ['abort-timeout', 'AbortSignal.timeout'],
    ['performance-now', 'performance.now'],
    ['read-file', 'fs.readFileSync'],
    ['after-sleep', 'Math.random'],
    ['in-workload', 'Math.random'],
  ])('%s', async (scenario, what) => {
    const { code, json } = await simulated(leaks, scenario)
    expect([code, json.verdict]).toEqual([4, 'nondeterministic'])
    const at = `${leaks}:${lineWith(leaks, `// planted: ${scenario}`)}:`
    expect(json.failures[0]).toMatchObject({ kind: 'nondeterministic', seed: '0x7' })
    expect(json.failures[0]?.message).toContain(`${what} at ${at}`)
  })

  test.concurrent.each([
    ['unseen', 'waited for something outside the simulation'],
    ['dynamic-import', 'fs.promises.readFile'],
  ])('%s, which no line called, names the job', async (scenario, what) => {
    const { code, json } = await simulated(leaks, scenario)
    expect([code, json.verdict]).toEqual([4, 'nondeterministic'])
    expect(json.failures[0]?.message).toContain(what)
    expect(json.failures[0]?.message).toContain(`the handler of job ${scenario}-1`)
  })
})

describe('a run that does not come back', () => {
  test.concurrent.each(['microtasks', 'loop'])('%s: is killed, and its seed printed', async (scenario) => {
    const { code, json } = await simulated(breaks, scenario, '--silent-ms', '600')
    expect([code, json.verdict]).toEqual([3, 'inconclusive'])
    expect(json.failures[0]).toMatchObject({ kind: 'hung', seed: '0x7', scenario })
    expect(json.failures[0]?.message).toMatch(/^no sign of life for \d+ ms/)
  })

  test.concurrent('does not stop the others', async () => {
    const args = [
      'simulate',
      breaks,
      '--seeds',
      '11',
      '--first-seed',
      '0',
      '--silent-ms',
      '600',
      '--threads',
      '2',
    ]
    const { code, stdout } = await run([...args, '--json'])
    const { failures } = JSON.parse(stdout) as Json
    // One seed for each scenario of the module, so every way to break is in it once.
    expect(code).toBe(1)
    expect(failures.map(({ kind, seed }) => `${seed} ${kind}`)).toEqual([
      '0x1 hung',
      '0x2 hung',
      '0x3 livelock',
      '0x4 violated',
      '0x5 error',
      '0x6 error',
      '0x7 error',
      '0x9 error',
    ])
  })

  test.concurrent('is told on the terminal, with the command that runs its seed again', async () => {
    const { stdout } = await run([
      'simulate',
      breaks,
      '--scenario',
      'loop',
      '--seed',
      '7',
      '--silent-ms',
      '600',
    ])
    expect(stdout).toContain('HUNG hung   seed 0x7')
    expect(stdout).toContain(`npx holdfast replay 0x7 --scenario loop --store memory --module ${breaks}`)
    expect(stdout).not.toContain('PASS')
  })
})

describe('code that breaks', () => {
  test.concurrent('time that stands still is a livelock, named', async () => {
    const { code, json } = await simulated(breaks, 'livelock')
    expect([code, json.verdict]).toEqual([3, 'inconclusive'])
    expect(json.failures[0]).toMatchObject({ kind: 'livelock' })
    expect(json.failures[0]?.message).toContain("'sleep'")
  })

  test.concurrent('a rejection that nobody listens to is told with its place', async () => {
    const { code, json } = await simulated(breaks, 'detached')
    expect([code, json.verdict, json.failures[0]?.kind]).toEqual([1, 'violated', 'error'])
    expect(json.failures[0]?.message).toContain('unhandled rejection: Error: nobody listens')
    expect(json.failures[0]?.message).toContain(`breaks.mjs:${lineWith(breaks, '// planted: detached')}:`)
  })

  test.concurrent.each([
    ['thrown-in-tick', 'out of a tick'],
    ['throws-in-workload', 'no work today'],
    ['exits', 'ended its thread'],
  ])('%s is an error of its seed', async (scenario, says) => {
    const { code, json } = await simulated(breaks, scenario)
    expect([code, json.failures[0]?.kind, json.failures[0]?.seed]).toEqual([1, 'error', '0x7'])
    expect(json.failures[0]?.message).toContain(says)
  })

  test.concurrent('a handler that hangs is a failure to converge, and no leak', async () => {
    const { code, json } = await simulated(breaks, 'hangs')
    expect([code, json.verdict]).toEqual([1, 'violated'])
    expect(json.failures[0]).toMatchObject({ kind: 'violated', property: 'convergence' })
    expect(json.failures[0]?.message).toContain('hangs-1 (queued)')
  })

  test.concurrent('odd values that handlers throw fail their jobs, and the run passes', async () => {
    const { code, json } = await simulated(breaks, 'throws-odd-values')
    expect([code, json.verdict, json.failures]).toEqual([0, 'pass', []])
  })
})
