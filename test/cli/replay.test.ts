import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Desk, type Ended, desk, fixture } from './holdfast.ts'

/** One failing run of the command, whose files the tests look at. */
let at: Desk
let ended: Ended
let file = ''
beforeAll(async () => {
  at = desk()
  ended = await at.run(['simulate', fixture('never-ends'), '--seed', '5'], {
    HOLDFAST_SECRET: 'marker-in-the-environment',
  })
  file = at.replays()[0] ?? ''
})
afterAll(() => at.clear())

interface File {
  readonly property: string
  readonly seed: string
  readonly event: number
  readonly traceHash: string
  readonly draws: number[]
}

const parsed = (): File => JSON.parse(readFileSync(file, 'utf8')) as File

/** The file with something changed, under a name of its own. */
function edited(name: string, over: (whole: File) => object): string {
  const target = path.join(at.directory, name)
  writeFileSync(target, JSON.stringify(over(parsed())))
  return target
}

describe('a failure', () => {
  test('is written as a file that is named by its property and seed', () => {
    expect(ended.code).toBe(1)
    expect(at.replays().map((name) => path.basename(name))).toEqual(['convergence-5.json'])
    expect(parsed()).toMatchObject({ property: 'convergence', seed: '0x5' })
  })

  test('ends with a command that shows it again when it is pasted', async () => {
    const command = /^ {2}replay: (npx holdfast .*)$/m.exec(ended.stdout)?.[1] ?? ''
    const again = await at.shell(command)
    expect([again.code, again.stderr]).toEqual([1, ''])
    expect(again.stdout).toMatch(/FAIL {2}the recorded failure, at the same event$/m)
    const [first] = ended.stdout.match(/^FAIL .*$/m) ?? []
    expect(again.stdout).toContain(first)
  })

  test('is shown up to an event, and then how everything stands', async () => {
    const { event } = parsed()
    const part = await at.run(['replay', file, '--until', '40'])
    expect([part.code, part.stderr]).toEqual([0, ''])
    expect(part.stdout).toMatch(/^as it stands after event 4\d, at \+[\d.]+s$/m)
    expect(part.stdout).toMatch(/^ {2}machine +is/m)
    expect(part.stdout).not.toMatch(/PASS|FAIL/)
    const whole = await at.run(['replay', file, '--until', `${event + 1}`])
    expect(whole.code).toBe(1)
    expect(whole.stdout).toMatch(/^FAIL convergence: /m)
  })

  test('in a folder with a name that a shell would take apart has such a command, too', async () => {
    const odd = "it's a $(folder)"
    const there = await at.run(['simulate', fixture('never-ends'), '--seed', '5', '--report', odd])
    const command = /^ {2}replay: (npx holdfast .*)$/m.exec(there.stdout)?.[1] ?? ''
    expect(command).toContain('folder')
    expect((await at.shell(command)).stdout).toMatch(/FAIL {2}the recorded failure, at the same event$/m)
  })

  test('without a file has a command with its seed', async () => {
    const leaking = await at.run(['simulate', fixture('leaks'), '--seed', '2', '--scenario', 'date-now'])
    const command = /^ {2}replay: (npx holdfast .*)$/m.exec(leaking.stdout)?.[1] ?? ''
    const again = await at.shell(command)
    expect([leaking.code, again.code]).toEqual([4, 4])
    expect(again.stdout).toContain('Date.now at ')
  })

  test('under fewer families has a command that keeps to them', async () => {
    const args = [
      'simulate',
      fixture('leaks'),
      '--seed',
      '2',
      '--scenario',
      'after-sleep',
      '--faults',
      'crash',
    ]
    const leaking = await at.run(args)
    expect(leaking.stdout).toMatch(/replay: npx holdfast replay 0x2 .* --faults crash /)
  })

  test('has a file with no environment, no path of the machine, and its module as seen from where it ran (X04)', () => {
    const text = readFileSync(file, 'utf8')
    // As a value by itself: the relative path of a module may well lead through the folders of its root.
    for (const secret of [at.directory, process.cwd(), process.execPath, 'marker-in-the-environment'])
      expect(text).not.toContain(`"${secret}`)
    const { file: module } = JSON.parse(text) as { file: string }
    expect(module).toBe(path.relative(at.directory, fixture('never-ends')))
  })
})

describe('a replay of a file', () => {
  test('is the same failure in JSON: seed, property, event, trace', async () => {
    const { code, stdout } = await at.run(['replay', file, '--json'])
    const { property, seed, traceHash } = parsed()
    expect(code).toBe(1)
    expect(stdout.split('\n')).toHaveLength(2)
    expect(JSON.parse(stdout)).toMatchObject({
      command: 'replay',
      verdict: 'violated',
      traceHash: expect.any(String) as string,
      failures: [{ kind: 'violated', property, seed }],
    })
    expect(traceHash).toMatch(/^[0-9a-f]{32}$/)
  })

  test('prints every event when asked to', async () => {
    const { code, stdout } = await at.run(['replay', file, '--trace'])
    expect(code).toBe(1)
    const events = stdout.split('\n').filter((line) => /^ *\+[\d.]+s {2}/.test(line))
    expect(events.length).toBeGreaterThan(parsed().event)
    expect(events[0]).toContain('the run starts: ')
    for (const step of ['request', 'execution', 'reply', 'timer']) expect(stdout).toContain(` ${step} `)
  })

  test('with an edited list of choices has diverged: exit 4, at a named event and choice', async () => {
    const target = edited('edited.json', (whole) => ({
      ...whole,
      draws: whole.draws.map((draw, k) => (k === 200 ? draw ^ 1 : draw)),
    }))
    const { code, stdout } = await at.run(['replay', target])
    expect(code).toBe(4)
    expect(stdout).toMatch(/diverged at event \d+: choice 101 is /)
    expect(stdout).not.toContain('FAIL  the recorded failure')
  })

  test('with too few choices has diverged', async () => {
    const target = edited('short.json', (whole) => ({ ...whole, draws: whole.draws.slice(0, 300) }))
    expect((await at.run(['replay', target])).code).toBe(4)
  })

  test('recorded with other code says so', async () => {
    const target = edited('older.json', (whole) => ({ ...whole, engine: 'abcdef0' }))
    expect((await at.run(['replay', target])).stdout).toContain('recorded with engine abcdef0, this is ')
  })

  test('of another failure says that it is another', async () => {
    const target = edited('other.json', (whole) => ({ ...whole, event: whole.event + 1 }))
    const { code, stdout } = await at.run(['replay', target])
    expect(code).toBe(1)
    expect(stdout).toContain('FAIL  another failure than the recorded one')
  })

  test('that takes another course to it says so', async () => {
    const target = edited('trace.json', (whole) => ({ ...whole, traceHash: '0'.repeat(32) }))
    expect((await at.run(['replay', target])).stdout).toContain('at the same event of another trace')
  })

  test.each([
    ['is not JSON', 'hello', /it is not JSON/],
    ['is of another format', '{"format":"holdfast-replay-9"}', /no replay file that this version reads/],
    ['is empty', '', /it is not JSON/],
  ])('that %s: exit 2', async (name, text, says) => {
    const target = path.join(at.directory, `${name}.json`)
    writeFileSync(target, text)
    const { code, stdout, stderr } = await at.run(['replay', target])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
  })

  test('whose module is gone: exit 2', async () => {
    const target = edited('moved.json', (whole) => ({ ...whole, file: 'gone.mjs' }))
    const { code, stderr } = await at.run(['replay', target])
    expect(code).toBe(2)
    expect(stderr).toContain('there is no file gone.mjs')
  })
})

describe('a replay of a seed', () => {
  test('that passes says so, under the trace that simulate had', async () => {
    const once = await at.run(['simulate', '--seed', '9', '--scenario', 'standard', '--json'])
    const again = await at.run(['replay', '9', '--scenario', 'standard', '--json'])
    expect([once.code, again.code]).toEqual([0, 0])
    const { events } = JSON.parse(once.stdout) as { events: number }
    expect(JSON.parse(again.stdout)).toMatchObject({ verdict: 'pass', events, failures: [] })
    expect((JSON.parse(again.stdout) as File).traceHash).toBe((JSON.parse(once.stdout) as File).traceHash)
  })
})
