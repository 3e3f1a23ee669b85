import { afterAll, describe, expect, test } from 'vitest'
import { scenarios as known } from '../../src/sim/scenarios/index.ts'
import { desk, fixture, readOneLine } from './holdfast.ts'

const { run, clear, directory, read } = desk()
afterAll(clear)

interface Json {
  readonly traceHash: string
  readonly seeds: number
  readonly scenarios: Readonly<Record<string, number>>
  readonly verdict: string
  readonly failures: readonly { readonly seed: string; readonly replay: string | null }[]
}

async function json(...args: string[]): Promise<Json> {
  const { stdout } = await run(['simulate', '--json', '--report', 'other', ...args])
  return JSON.parse(stdout) as Json
}

describe('a run', () => {
  test('of 20 seeds is one trace, whatever ran beside', async () => {
    const seeds = ['--seeds', '20', '--scenario', 'lost-claim-replies']
    const one = await json(...seeds, '--threads', '1')
    // Two at once: each of them runs on a machine that is busy otherwise.
    const others = await Promise.all([json(...seeds, '--threads', '2'), json(...seeds, '--threads', '5')])
    expect(others.map(({ traceHash }) => traceHash)).toEqual([one.traceHash, one.traceHash])
    expect([one, ...others].map(({ seeds: ran }) => ran)).toEqual([20, 20, 20])
  })

  test('of other seeds is another trace', async () => {
    const fine = [fixture('breaks'), '--scenario', 'fine', '--seeds', '3']
    expect((await json(...fine, '--first-seed', '2')).traceHash).not.toBe((await json(...fine)).traceHash)
  })

  test('in three parts runs the seeds of the whole, each once', async () => {
    // Every seed of this module fails, so the failures are the seeds.
    const all = async (...args: string[]): Promise<string[]> =>
      (await json(fixture('leaks'), '--scenario', 'math-random', '--seeds', '10', ...args)).failures.map(
        ({ seed }) => seed,
      )
    const parts = await Promise.all(['1/3', '2/3', '3/3'].map((part) => all('--shard', part)))
    expect(parts.map((part) => part.length)).toEqual([4, 3, 3])
    const hexadecimal = (a: string, b: string): number => Number(a) - Number(b)
    expect(parts.flat().sort(hexadecimal)).toEqual(await all())
  })

  test('in as many parts as some scenarios are has every scenario in every part', async () => {
    const names = known.map(({ name }) => name).sort()
    const { scenarios: ran } = await json('--seeds', `${4 * names.length}`, '--shard', '2/4')
    expect(ran).toEqual(Object.fromEntries(names.map((name) => [name, 1])))
  })

  test('that fails at its n-th seed fails alone with that seed (B02)', async () => {
    const { failures } = await json(fixture('sometimes-fails'), '--seeds', '12')
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.length).toBeLessThan(12)
    const seed = failures.at(-1)?.seed ?? ''
    const alone = await json(fixture('sometimes-fails'), '--seed', seed)
    expect(alone).toMatchObject({ verdict: 'violated', failures: [{ seed }] })
  })

  test('writes its reports, and says what it says', async () => {
    const ended = await run(['simulate', '--seeds', '14', '--json'])
    expect(JSON.parse(read('reports/simulate.json'))).toEqual(JSON.parse(ended.stdout))
    const markdown = read('reports/simulate.md')
    expect(markdown).toContain('Again: `npx holdfast simulate --seeds 14 --first-seed 0x1 --store memory`')
    expect(markdown).toContain((JSON.parse(ended.stdout) as Json).traceHash)
  })

  test('whose reports cannot be written says so, and has the verdict that it had', async () => {
    const { code, stderr } = await run([
      'simulate',
      '--seed',
      '1',
      '--scenario',
      'standard',
      '--report',
      '/dev/null/x',
    ])
    expect(code).toBe(0)
    expect(stderr).toContain('could not write')
  })
})

describe('JSON for machines', () => {
  test.each([
    ['pass', 0, ['--seed', '1', '--scenario', 'standard']],
    ['violated', 1, [fixture('never-ends'), '--seed', '1']],
    ['inconclusive', 3, ['--seeds', '0']],
    ['nondeterministic', 4, [fixture('leaks'), '--scenario', 'date-now', '--seed', '1']],
  ] as const)('%s: one object, and nothing else', async (verdict, exit, args) => {
    const { code, stdout, stderr } = await run(['simulate', ...args, '--json'])
    expect([code, stderr]).toEqual([exit, ''])
    expect(stdout.split('\n')).toHaveLength(2)
    const object = JSON.parse(stdout) as Record<string, unknown>
    const documented =
      'command version verdict seeds events traceHash simulatedMs wallMs faults properties failures unreached'
    for (const field of documented.split(' ')) expect(Object.keys(object)).toContain(field)
    expect(object).toMatchObject({ command: 'simulate', verdict })
  })
})

describe('a pipe (B07)', () => {
  test('whose reader has seen enough ends the command quietly, with its exit code', async () => {
    const ended = await readOneLine(['replay', '1', '--scenario', 'standard', '--trace'], directory)
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    const failing = ['replay', '1', '--scenario', 'never-ends', '--module', fixture('never-ends'), '--trace']
    const failed = await readOneLine(failing, directory)
    expect([failed.code, failed.stderr]).toEqual([1, ''])
  })

  test('gets all of a long text', async () => {
    const args = ['replay', '8', '--scenario', 'everything', '--trace']
    const { stdout } = await run(args)
    expect(stdout.length).toBeGreaterThan(300_000)
    expect(stdout).toMatch(
      /PASS {2}no invariant was violated \(scenario [\w-]+, [\d,]+ events, trace [0-9a-f]{32}\)\n$/,
    )
  })

  test('gets all of a large JSON', async () => {
    const { code, stdout } = await run(['simulate', fixture('loud'), '--seed', '1', '--json'])
    expect(code).toBe(1)
    expect(stdout.length).toBeGreaterThan(1_000_000)
    expect((JSON.parse(stdout) as Json).verdict).toBe('violated')
  })
})
