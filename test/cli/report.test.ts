import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { desk, fixture } from './holdfast.ts'

const at = desk()
afterAll(() => at.clear())

/** Reports made by hand, in a folder of the desk. */
function written(name: string, json: unknown): string {
  const directory = path.join(at.directory, name)
  mkdirSync(directory, { recursive: true })
  writeFileSync(path.join(directory, 'simulate.json'), typeof json === 'string' ? json : JSON.stringify(json))
  return name
}

describe('what simulate leaves', () => {
  const runs = [
    ['pass', 0, ['--seed', '1', '--scenario', 'standard']],
    ['violated', 1, [fixture('never-ends'), '--seed', '1']],
    ['inconclusive', 3, ['--seeds', '0']],
    ['nondeterministic', 4, [fixture('leaks'), '--scenario', 'date-now', '--seed', '1']],
  ] as const

  test.each(runs)('%s: report says what it said, with its exit code %d', async (verdict, exit, args) => {
    const ran = await at.run(['simulate', ...args, '--report', verdict])
    const told = await at.run(['report', verdict])
    expect([ran.code, told.code, told.stderr]).toEqual([exit, exit, ''])
    const page = path.join(at.directory, verdict, 'simulate.html')
    expect(told.stdout).toBe(`${ran.stdout}\n${page}\n`)
    for (const file of ['simulate.html', 'simulate.xml'])
      expect(at.read(`${verdict}/${file}`)).toContain(verdict)
  })

  test('holds nothing of the machine but what was named to it (X04)', async () => {
    await at.run(['simulate', fixture('never-ends'), '--seed', '1', '--report', 'private'], {
      HOLDFAST_SECRET: 'marker-in-the-environment',
    })
    for (const file of ['simulate.html', 'simulate.xml', 'simulate.json', 'simulate.md']) {
      const text = at.read(`private/${file}`)
      for (const secret of ['marker-in-the-environment', process.execPath, at.directory])
        expect(text).not.toContain(secret)
    }
  })

  test('has the mutants on its page if their result lies beside it, and says when that is none', async () => {
    const run = ['simulate', '--seed', '1', '--scenario', 'standard', '--report', 'beside']
    const mutant = { id: 'fence-off', killed: true, property: 'fencing', seeds: 3, wallMs: 120 }
    mkdirSync(path.join(at.directory, 'beside'))
    const file = path.join(at.directory, 'beside', 'mutants.json')
    writeFileSync(file, JSON.stringify({ command: 'mutants', mutants: [mutant], survivors: [] }))
    expect((await at.run(run)).stderr).toBe('')
    expect(at.read('beside/simulate.html')).toContain('fence-off')
    writeFileSync(file, '{}')
    const { code, stderr } = await at.run(run)
    expect([code, stderr]).toEqual([0, expect.stringContaining('no result of the mutants')])
  })
})

describe('a report of 5 MB in a pipe (B07)', () => {
  const text = `first line\n${`${'x'.repeat(99)}\n`.repeat(52_000)}last line\n`
  const name = written('large', { verdict: 'violated', text })

  test('arrives whole, with its exit code', async () => {
    const { stdout } = await at.shell(`npx holdfast report ${name} | wc -c; echo "\${PIPESTATUS[0]}"`)
    expect(stdout.trim().split(/\s+/)).toEqual([String(text.length), '1'])
  })

  test('whose reader has seen enough ends quietly, with its exit code', async () => {
    const { stdout, stderr } = await at.shell(
      `npx holdfast report ${name} | head -1; echo "\${PIPESTATUS[0]}"`,
    )
    expect([stdout, stderr]).toEqual(['first line\n1\n', ''])
  })
})

describe('what is no report: exit 2, a sentence, nothing on stdout', () => {
  test.each([
    ['a folder that is not there', 'nowhere', /simulate\.json cannot be read: .*; simulate writes it/],
    ['no JSON', written('broken', '{'), /cannot be read/],
    ['null', written('null', 'null'), /no report of simulate that this version reads/],
    ['another file', written('other', { verdict: 'pass' }), /no report of simulate/],
    ['another verdict', written('verdict', { verdict: 'constructor', text: '' }), /no report of simulate/],
  ])('%s', async (_, name, says) => {
    const { code, stdout, stderr } = await at.run(['report', name])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(/^ {4}at /m)
  })

  test('a text that a terminal would obey is spelled out', async () => {
    const { stdout } = await at.run([
      'report',
      written('hostile', { verdict: 'pass', text: 'a\u001b[31m\u202eb\nc' }),
    ])
    expect(stdout).toBe('a\\u001b[31m\\u202eb\nc\n')
  })
})

describe.skipIf(process.platform !== 'linux')('--open', () => {
  const name = written('opened', { verdict: 'inconclusive', text: 'told' })
  const page = path.join(at.directory, name, 'simulate.html')

  test('without a page is refused before anything is said', async () => {
    const { code, stdout, stderr } = await at.run(['report', name, '--open'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('run simulate first')
  })

  test('hands the page to the opener of the platform, and does not wait for it', async () => {
    writeFileSync(page, 'page')
    const bin = path.join(at.directory, 'bin')
    mkdirSync(bin)
    const opener = path.join(bin, 'xdg-open')
    // It lives on until it is told that the command has ended; then it says what it was given.
    const [ended, seen] = [`${opener}.ended`, `${opener}.seen`]
    await at.shell(`mkfifo '${ended}' '${seen}'`)
    const script = `cat '${ended}' > /dev/null; printf '%s' "$*" > '${seen}'`
    writeFileSync(opener, `#!/bin/bash\n${script}\n`)
    chmodSync(opener, 0o755)
    const { code, stderr } = await at.run(['report', name, '--open'], {
      PATH: `${bin}:${process.env['PATH']}`,
    })
    expect([code, stderr]).toEqual([3, ''])
    await writeFile(ended, 'now')
    expect(await readFile(seen, 'utf8')).toBe(page)
  })

  test('on a machine without one says so, and names the page', async () => {
    writeFileSync(page, 'page')
    const { code, stdout, stderr } = await at.run(['report', name, '--open'], { PATH: '/nonexistent' })
    expect([code, stdout]).toEqual([2, `told\n\n${page}\n`])
    expect(stderr).toMatch(/^error: xdg-open cannot be started .*; open .*simulate\.html yourself\n$/)
  })
})
