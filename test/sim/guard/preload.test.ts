import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { type Leak, leakGuard } from '../../../src/sim/guard/guard.ts'

const preload = new URL('../../../dist/sim/guard/preload.js', import.meta.url).href
const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))

async function run(args: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, args)).stdout
}

/** `file:line:column` of the n-th `text` in a fixture. */
function siteOf(name: string, text: string): string {
  const lines = readFileSync(fixture(name), 'utf8').split('\n')
  const index = lines.findIndex((line) => line.startsWith('probe(') && line.includes(text))
  return `${name}:${index + 1}:${(lines[index] ?? '').indexOf(text) + 1}`
}

test('sees named imports of ES modules, at the exact place', async () => {
  const lines = (await run(['--import', preload, fixture('leaky.mjs')])).trimEnd().split('\n')
  expect(lines).toEqual([
    'late: false',
    `fs.readFileSync @ ${siteOf('leaky.mjs', 'readFileSync(')}`,
    `fs.readFileSync @ ${siteOf('leaky.mjs', 'fs.readFileSync(').replace(/\d+$/, (column) => String(Number(column) + 3))}`,
    `crypto.randomUUID @ ${siteOf('leaky.mjs', 'randomUUID(')}`,
    `timers/promises.setTimeout @ ${siteOf('leaky.mjs', 'sleep(')}`,
    `Date.now @ ${siteOf('leaky.mjs', 'now(')}`,
    'printed',
    'no leak',
  ])
})

test('given twice, it is installed once', async () => {
  const twice = ['--import', preload, '--import', `${preload}?again`, fixture('leaky.mjs')]
  expect(await run(twice)).toBe(await run(['--import', preload, fixture('leaky.mjs')]))
})

test('nothing that a program can see of the built-ins changes', async () => {
  const plain: unknown = JSON.parse(await run([fixture('shape.mjs')]))
  const guarded: unknown = JSON.parse(await run(['--import', preload, fixture('shape.mjs')]))
  expect(guarded).toEqual(plain)
})

test('installed by the first question, it is late', async () => {
  const guardModule = new URL('./guard.js', preload).href
  const program = `import { leakGuard } from '${guardModule}'; console.log(leakGuard().late, leakGuard() === leakGuard())`
  expect((await run(['--input-type=module', '-e', program])).trim()).toBe('true true')
})

test('a worker has a guard of its own', async () => {
  const worker = new Worker(fixture('worker.mjs'), { execArgv: ['--import', preload] })
  const [{ late, leak }] = (await once(worker, 'message')) as [{ late: boolean; leak: Leak }]
  await once(worker, 'exit')
  expect(late).toBe(false)
  expect(leak).toMatchObject({ what: 'crypto.randomInt', site: expect.stringMatching(/worker\.mjs:8:1$/) })
  expect(leakGuard().takeLeak()).toBeNull()
})

test('a worker without it has none', async () => {
  const worker = new Worker(fixture('worker.mjs'), { execArgv: [] })
  expect(await once(worker, 'message')).toEqual([{ late: undefined, leak: undefined }])
  await once(worker, 'exit')
})
