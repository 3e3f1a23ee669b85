import { afterAll, describe, expect, test } from 'vitest'
import { desk, fixture } from './holdfast.ts'

const { run, clear } = desk()
afterAll(clear)

describe('what cannot be meant is refused: exit 2, a sentence on stderr, nothing on stdout', () => {
  test.concurrent.each<[string, RegExp]>([
    ['simulate --scenario nope', /no scenario nope; there are standard, /],
    ['simulate --faults flood', /no fault family flood; there are .*crash/],
    ['simulate --faults ,', /no fault family/],
    ['simulate --store oracle', /no simulated store oracle; there are memory/],
    ['simulate --store postgres --seeds 1', /needs a server: .*--database-url or DATABASE_URL/],
    ['simulate --store postgres --database-url postgres://127.0.0.1:1/x', /no PostgreSQL answers/],
    ['replay 1 --store postgres', /needs a server/],
    ['simulate --seed abc', /a seed is a whole number/],
    ['simulate --seed 18446744073709551616', /over the largest/],
    ['simulate --seed=-1', /a seed is a whole number/],
    ['simulate --first-seed 1.5 --seeds 1', /a seed is a whole number/],
    ['simulate --seeds -1', /--seeds/],
    ['simulate --seeds 1.5', /--seeds takes a whole number/],
    ['simulate --minutes 0', /--minutes takes/],
    ['simulate --minutes x', /--minutes takes/],
    ['simulate --threads 0', /--threads takes/],
    ['simulate --silent-ms 1', /--silent-ms takes/],
    ['simulate --shard 4/3', /--shard takes/],
    ['simulate --shard 0/3', /--shard takes/],
    ['simulate --seed 1 --seeds 2', /one of --seed, --seeds and --minutes/],
    ['simulate --seed 1 --minutes 1', /one of --seed, --seeds and --minutes/],
    ['simulate --seeds 1 --minutes 1', /one of --seed, --seeds and --minutes/],
    ['simulate --seed 1 --shard 1/2', /--seed is one seed/],
    ['simulate --nonsense', /nonsense/],
    ['simulate nowhere.mjs', /there is no file nowhere.mjs/],
    ['simulate a b', /too many arguments/],
    ['replay', /missing required argument/],
    ['replay nowhere.json', /neither a replay file nor a seed/],
    ['replay .', /cannot be read/],
    ['replay 1 --scenario nope', /no scenario nope/],
    ['replay 1 --faults flood', /no fault family flood/],
    ['report nowhere', /simulate.json cannot be read/],
    ['report --nonsense', /nonsense/],
    ['report a b', /too many arguments/],
    ['replay 1 --module nowhere.mjs', /there is no file/],
    ['nonsense', /unknown command/],
  ])('holdfast %s', async (line, says) => {
    const { code, stdout, stderr } = await run(line.split(' '), { DATABASE_URL: '' })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(/^ {4}at /m)
  })

  test.concurrent.each<[string, RegExp]>([
    ['throws', /throws\.mjs cannot be imported: Error: this module \\u001b\[31mthrows\n/],
    ['exports-nothing', /must export a scenario, a bench or a topology, or a list of them, as its default/],
    ['half', /exports a scenario half whose workers is no whole number/],
  ])('a module that %s', async (name, says) => {
    const { code, stdout, stderr } = await run(['simulate', fixture(name), '--seed', '1', '--json'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
  })

  test.concurrent('a scenario that the module does not have', async () => {
    const { code, stderr } = await run([
      'simulate',
      fixture('breaks'),
      '--seed',
      '1',
      '--scenario',
      'standard',
    ])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: there is no scenario standard; there are fine, .*\n$/)
  })
})

describe('what proves nothing is no pass: exit 3 (B05)', () => {
  const idle = fixture('breaks')
  test.concurrent.each<[string, readonly string[], RegExp]>([
    ['no seeds', ['--seeds', '0'], /no seed came to its end/],
    ['an empty shard', ['--seeds', '1', '--shard', '2/2'], /no seed came to its end/],
    ['no time', ['--minutes', '0.00001'], /in the time given|no seed/],
    [
      'a family that never struck',
      ['--seed', '1', '--scenario', 'clock-skew', '--faults', 'lost-reply'],
      /lost-reply was never injected/,
    ],
    [
      'a filter that leaves an invariant out',
      ['--seeds', '1', '--scenario', 'clock-skew', '--faults', 'clock-skew'],
      /database-time-only was never evaluated/,
    ],
    [
      'no jobs, one seed',
      [idle, '--scenario', 'nothing-to-do', '--seed', '1'],
      /no invariant was ever evaluated/,
    ],
    [
      'no jobs, some seeds',
      [idle, '--scenario', 'nothing-to-do', '--seeds', '3'],
      /fencing was never evaluated/,
    ],
  ])('%s', async (_, args, says) => {
    const { code, stdout } = await run(['simulate', ...args, '--json'])
    const { verdict, reasons } = JSON.parse(stdout) as { verdict: string; reasons: string[] }
    expect([code, verdict]).toEqual([3, 'inconclusive'])
    expect(reasons.join('\n')).toMatch(says)
  })

  test.concurrent('nor is it on the terminal, in Markdown, or when a seed is replayed', async () => {
    const own = desk()
    const text = await own.run(['simulate', '--seeds', '0'])
    const markdown = own.read('reports/simulate.md')
    const again = await own.run(['replay', '1', '--scenario', 'nothing-to-do', '--module', idle])
    own.clear()
    expect([text.code, again.code]).toEqual([3, 3])
    for (const said of [text.stdout, again.stdout]) {
      expect(said).toContain('INCONCLUSIVE')
      expect(said).not.toContain('PASS')
    }
    expect(markdown).toMatch(/^# holdfast simulate: inconclusive/)
  })
})

test.concurrent.each(['--help', 'simulate --help', 'replay --help', 'report --help', '--version'])(
  'holdfast %s is no error',
  async (line) => {
    const { code, stdout, stderr } = await run(line.split(' '))
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.length).toBeGreaterThan(3)
  },
)

test.concurrent.each([
  ['0', '0x0'],
  ['9007199254740993', '0x20000000000001'],
  ['18446744073709551615', '0xffffffffffffffff'],
])('seed %s is run exactly', async (seed, printed) => {
  const { code, stdout } = await run([
    'simulate',
    '--seed',
    seed,
    '--scenario',
    'lost-claim-replies',
    '--json',
  ])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ firstSeed: printed, seeds: 1, verdict: 'pass' })
})
