// Every block of docs/simulate-your-jobs.md, in its order, in a folder where the package is installed.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-doc-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const doc = readFileSync(path.join(root, 'docs/simulate-your-jobs.md'), 'utf8')
const blocks = [...doc.matchAll(/(?:`([\w.]+)`\n\n)?```(\w*)\n([^]*?)```/g)].map(
  ([, file, language = '', text = '']) => ({ file, language, text }),
)
const of = (language: string): string[] =>
  blocks.flatMap((block) => (block.language === language ? [block.text.trim()] : []))

beforeAll(() => {
  const modules = path.join(folder, 'node_modules')
  mkdirSync(modules)
  symlinkSync(root, path.join(modules, 'holdfast'))
  for (const peer of ['vitest', 'fast-check'])
    symlinkSync(path.join(root, 'node_modules', peer), path.join(modules, peer))
  for (const { file, text } of blocks) if (file !== undefined) writeFileSync(path.join(folder, file), text)
})

/** A line of a shell, with `npx holdfast` and `npx vitest` being those of this package. */
function shell(line: string): Promise<{ code: number; output: string }> {
  const npx = `npx() { local what=$1; shift; case $what in
    holdfast) "$NODE" '${root}/dist/cli/main.js' "$@";;
    vitest) "$NODE" '${root}/node_modules/vitest/vitest.mjs' "$@";; esac; }; node() { "$NODE" "$@"; }; ${line}`
  const env = { ...process.env, NODE: process.execPath, NODE_OPTIONS: '', NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile('bash', ['-c', npx], { cwd: folder, env, maxBuffer: 2 ** 27 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    )
  })
}

/** As it was printed, but for figures and what is left out. */
function likeLine(line: string): RegExp {
  const text = line
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(String.raw`\.\.\.`, '.*')
    .replaceAll(/\d+/g, String.raw`\d+`)
  return new RegExp(text.replaceAll(/ +/g, ' +'))
}

const [install, simulates, replays, again] = of('sh')

test('it has the blocks that are run here, and no others', () => {
  expect(blocks.map(({ file, language }) => file ?? language)).toEqual([
    'sh',
    'order.mjs',
    'shop.bench.mjs',
    'sh',
    '',
    'sh',
    'diff',
    'sh',
    'shop.test.mjs',
    'check.mjs',
    'shop.check.mjs',
  ])
  expect(install).toBe('npm i holdfast\nnpm i -D vitest')
  expect(again).toBe(simulates)
})

test('from a failing seed to its replay and its fix', { timeout: 240_000 }, async () => {
  const failing = await shell(simulates ?? '')
  expect(failing.code).toBe(1)
  for (const line of (of('')[0] ?? '').split('\n')) expect(failing.output).toMatch(likeLine(line))
  expect(await shell(replays ?? '')).toMatchObject({
    code: 1,
    output: expect.stringContaining('FAIL  the recorded failure, at the same event\n') as string,
  })

  const inTests = await shell('npx vitest run shop.test.mjs')
  expect(inTests.code).toBe(1)
  expect(inTests.output).toMatch(/bench shop does not hold: \d+ of \d+ seeds failed/)
  expect(inTests.output).toContain('FAIL charged-once')
  expect((await shell('node check.mjs')).output).toMatch(/^violated\nFAIL charged-once/)
  expect((await shell('node shop.check.mjs')).output).toContain('FAIL charged-once')

  const diff = (of('diff')[0] ?? '').split('\n')
  const [before = '', after = ''] = ['-', '+'].map((sign) =>
    diff.find((line) => line.startsWith(sign))?.slice(1),
  )
  const source = readFileSync(path.join(folder, 'order.mjs'), 'utf8')
  expect(source).toContain(before)
  writeFileSync(path.join(folder, 'order.mjs'), source.replace(before, after))

  const mended = await shell(again ?? '')
  expect(mended.output).toContain('\nPASS')
  expect(mended.code).toBe(0)
  expect(await shell('npx vitest run shop.test.mjs')).toMatchObject({ code: 0 })
  expect(await shell('node check.mjs')).toMatchObject({ code: 0, output: 'pass\n' })
  expect(await shell('node shop.check.mjs')).toMatchObject({ code: 0, output: '' })
})

const elsewhere = `import { expect, test } from 'vitest'
import 'holdfast/sim/vitest'
import shop from './shop.bench.mjs'
test('here', () => expect(shop).toHoldFor({ seeds: 1, where: 'here' }))
`

test('a realm of its own, where no guard sees anything, is refused', { timeout: 60_000 }, async () => {
  writeFileSync(path.join(folder, 'realm.test.mjs'), elsewhere)
  const { code, output } = await shell('npx vitest run --pool vmThreads realm.test.mjs')
  expect(code).toBe(1)
  expect(output).toContain('bench shop: this is a realm of its own')
})
