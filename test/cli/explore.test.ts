// The command `explore`: its verdicts and exit codes, what it leaves, and its counterexample once more.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hostile } from '../fixtures/scenarios/topologies.mjs'
import { desk, fixture } from './holdfast.ts'

const at = desk()
afterAll(() => at.clear())
const module = fixture('topologies')

interface Json {
  readonly verdict: string
  readonly runs: number
  readonly states: number
  readonly pruned: number
  readonly complete: boolean
  readonly topologies: readonly {
    readonly name: string
    readonly bound: string
    readonly levels: readonly {
      readonly schedules: number
      readonly runs: number
      readonly states: number
      readonly pruned: number
      readonly spread: Readonly<Record<'left' | 'pruned' | 'joined' | 'unwalked', readonly number[]>>
    }[]
  }[]
  readonly failures: readonly { readonly replay: string; readonly deviations: readonly string[] }[]
  readonly text: string
}

const sum = (all: readonly number[]): number => all.reduce((sums, one) => sums + one, 0)

async function explored(scenario: string, ...args: readonly string[]) {
  return at.run(['explore', module, '--scenario', scenario, ...args])
}

describe('a topology that holds', () => {
  test('passes with exit 0, and report says the same from what it left', async () => {
    const ran = await explored('holds', '--report', 'holds')
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toMatch(/^bounded-complete: holds: 1 worker, 1 job, 12 s, at most 1 deviation of /m)
    const told = await at.run(['report', 'holds'])
    const page = path.join(at.directory, 'holds', 'explore.html')
    expect(told).toEqual({ code: 0, stdout: `${ran.stdout}\n${page}\n`, stderr: '' })
    for (const file of ['explore.html', 'explore.md', 'explore.xml'])
      expect(at.read(`holds/${file}`)).toContain('pass')
    expect(at.read('holds/explore.md')).toContain('bounded-complete: holds: 1 worker')
  })

  test('is one JSON object with --json, whose levels and bins add up', async () => {
    const { stdout, stderr, code } = await explored('holds', '--json', '--deviations', '2')
    expect([code, stderr, stdout.trim().split('\n').length]).toEqual([0, '', 1])
    const json = JSON.parse(stdout) as Json
    const { levels } = json.topologies[0] as Json['topologies'][number]
    expect(json).toMatchObject({ command: 'explore', verdict: 'pass', complete: true, deviations: 2 })
    expect(levels.map(({ schedules }) => schedules)).toHaveLength(3)
    expect(levels[0]).toMatchObject({ deviations: 0, schedules: 1, runs: 1, pruned: 0 })
    for (const key of ['runs', 'states', 'pruned'] as const)
      expect(sum(levels.map((level) => level[key]))).toBe(json[key])
    for (const { schedules, runs, pruned, spread } of levels) {
      expect(runs).toBe(schedules)
      const sums = Object.fromEntries(Object.entries(spread).map(([key, bins]) => [key, [bins].flat()]))
      expect(sum(sums['left'] ?? [])).toBe(schedules)
      expect(sum(sums['pruned'] ?? [])).toBe(pruned)
      expect(sum(sums['joined'] ?? [])).toBe(pruned)
      expect(sum(sums['unwalked'] ?? [])).toBe(0)
    }
    expect(sum(levels.map(({ pruned }) => pruned))).toBeGreaterThan(10)
  })
})

describe('a topology that does not hold, with a hostile name', () => {
  test('exits 1, and its replay is the same failure at the same event', async () => {
    const { code, stdout } = await explored(hostile)
    expect(code).toBe(1)
    const [first] = stdout.match(/^FAIL never-paused {3}schedule with 1 deviation .*$/m) ?? []
    expect(first).toBeDefined()
    expect(stdout).toContain('w1 stands still for 2 s, just before the reply to watch.declare of w1')
    expect(at.read('reports/explore.html')).toContain(
      'The nearest run that passes <small>without +0.090s, step',
    )
    const command = /^ {2}replay: (npx holdfast .*)$/m.exec(stdout)?.[1] ?? ''
    const again = await at.shell(command)
    expect([again.code, again.stderr]).toEqual([1, ''])
    expect(again.stdout).toContain(first)
    expect(again.stdout).toMatch(/FAIL {2}the recorded failure, at the same event$/m)
  })

  test('is replayed wherever its module has gone, by --module; without, it names what is missing', async () => {
    const { stdout } = await explored(hostile, '--json', '--report', 'moved')
    const replay = (JSON.parse(stdout) as Json).failures[0]?.replay ?? ''
    const file = path.join(at.directory, replay)
    const lost = { ...JSON.parse(readFileSync(file, 'utf8')), file: 'gone.mjs' } as object
    writeFileSync(file, JSON.stringify(lost))
    const without = await at.run(['replay', replay])
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('there is no file gone.mjs')])
    const again = await at.run(['replay', replay, '--module', module])
    expect(again.code).toBe(1)
    expect(again.stdout).toMatch(/FAIL {2}the recorded failure, at the same event$/m)
  })

  test('with other code than that which it was found with diverges, or passes: never another failure', async () => {
    const { stdout } = await explored(hostile, '--json', '--report', 'late')
    const replay = (JSON.parse(stdout) as Json).failures[0]?.replay ?? ''
    const file = path.join(at.directory, replay)
    const whole = JSON.parse(readFileSync(file, 'utf8')) as { deviations: { step: number }[] }
    const late = { ...whole, deviations: whole.deviations.map((one) => ({ ...one, step: 9_999 })) }
    writeFileSync(file, JSON.stringify(late))
    const again = await at.run(['replay', replay])
    expect(again.code).toBe(4)
    expect(again.stdout).toMatch(
      /DIVERGED .*schedule with 1 deviation[^]*leaves the default at step 9999, and there are only/,
    )
  })
})

describe('what proves nothing says so', () => {
  test('an invariant that was never evaluated: exit 3', async () => {
    const { code, stdout } = await explored('vacuous')
    expect(code).toBe(3)
    expect(stdout).toContain('  - never-asked was never evaluated')
  })

  test('a time that was over: exit 3, not complete', async () => {
    const { code, stdout } = await at.run(['explore', '--scenario', 'standard', '--seconds', '1', '--json'])
    const json = JSON.parse(stdout) as Json
    expect([code, json.verdict, json.complete]).toEqual([3, 'inconclusive', false])
    const { schedules = 0, runs = 0, spread } = json.topologies[0]?.levels.at(-1) ?? {}
    expect(runs).toBeLessThan(schedules)
    expect(sum(spread?.unwalked ?? [])).toBe(schedules - runs)
    expect(at.read('reports/explore.html')).toContain('Not complete:')
  })

  test('a handler that asks the real world: exit 4, with the line', async () => {
    const { code, stdout } = await explored('leaks')
    expect(code).toBe(4)
    expect(stdout).toMatch(/NONDETERMINISTIC .*\n {2}Date\.now at .*topologies\.mjs:\d+/)
    expect(stdout).not.toContain('no fewer will do')
  })
})

describe('what cannot be meant is refused: exit 2, a sentence on stderr, nothing on stdout', () => {
  const own = (name: string, text: string): string => {
    const file = path.join(at.directory, name)
    writeFileSync(file, text)
    return file
  }

  test.each([
    ['an unknown topology', () => ['--scenario', 'nope'], /there is no topology nope; there are /],
    ['an unknown one of a module', () => [module, '--scenario', 'nope'], /there are holds, /],
    ['no such file', () => ['gone.mjs'], /there is no file gone\.mjs/],
    ['a module without any', () => [fixture('never-ends')], /the module exports no topology/],
    [
      'one that is wrong',
      () => [own('wrong.mjs', `export default { name: 'wrong', says: '', horizonMs: 1, workers: 0 }`)],
      /topology wrong: workers must be a whole number from 1 to 10, not 0/,
    ],
    [
      'a handler that does more than sleep',
      () => [module, '--scenario', 'talks'],
      /its handler called progress/,
    ],
    ['one that sleeps twice', () => [module, '--scenario', 'sleeps-twice'], /its handler slept twice/],
    ['deviations that are no number', () => ['--deviations', 'x'], /--deviations takes a whole number >= 0/],
  ])('%s', async (_, args, says) => {
    const { code, stdout, stderr } = await at.run(['explore', ...args()])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(/^ {4}at /m)
  })

  test('topologies, to simulate', async () => {
    const { code, stdout, stderr } = await at.run(['simulate', module, '--seed', '1'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('explore takes')
  })
})

describe('report, of a folder with what both left', () => {
  const both = (name: string, simulate: string, explore: string): string => {
    const directory = path.join(at.directory, name)
    mkdirSync(directory)
    for (const [file, verdict] of Object.entries({ simulate, explore }))
      writeFileSync(
        path.join(directory, `${file}.json`),
        JSON.stringify({ verdict, text: `${file} told`, topologies: [] }),
      )
    return name
  }

  test.each([
    ['pass', 'pass', 0],
    ['pass', 'violated', 1],
    ['violated', 'nondeterministic', 1],
    ['inconclusive', 'nondeterministic', 4],
    ['pass', 'inconclusive', 3],
  ])('simulate %s, explore %s: tells both, and exits %d', async (simulate, explore, code) => {
    const told = await at.run(['report', both(`${simulate}-${explore}`, simulate, explore)])
    expect(told).toEqual({ code, stdout: 'simulate told\n\nexplore told\n', stderr: '' })
  })
})

test('simulate has the explored bounds on its page if explore.json lies beside it', async () => {
  await explored('holds', '--report', 'beside')
  await at.run(['simulate', '--seed', '1', '--scenario', 'standard', '--report', 'beside'])
  expect(at.read('beside/simulate.html')).toContain('<b>holds</b>: 1 worker, 1 job, 12 s')
})
