// A run in which the tests on a PostgreSQL were skipped does not pass.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-ran-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let onServer: string[]
beforeAll(async () => {
  onServer = (await run('--list')).stdout.trim().split('\n')
})

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, 'scripts/tests-ran.mjs'), ...args],
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr })
      },
    )
  })
}

type Status = 'passed' | 'failed' | 'pending'

/** Of all files with tests on a server, each with one test; but those that are named. Of a broken one none ran. */
function result(
  name: string,
  others: Readonly<Record<string, readonly Status[] | null>> = {},
  broken = '',
): string {
  const testResults = onServer.flatMap((of) => {
    const statuses = others[of] === undefined ? (['passed'] as const) : others[of]
    if (statuses === null) return []
    const status = of === broken || statuses.includes('failed') ? 'failed' : 'passed'
    return [
      { name: path.join(root, of), status, assertionResults: statuses.map((each) => ({ status: each })) },
    ]
  })
  const file = path.join(directory, name)
  const success = testResults.every(({ status }) => status === 'passed')
  writeFileSync(file, JSON.stringify({ testResults, success }))
  return file
}

const conformance = 'test/stores/postgres.conformance.test.ts'
const behindPooler = 'test/stores/postgres.pgbouncer.test.ts'

test('knows the files that use a server', () => {
  expect(onServer).toContain(conformance)
  expect(onServer).toContain('test/stores/postgres.contention.test.ts')
  expect(onServer).not.toContain('test/stores/sqlite.test.ts')
})

test('sums up what ran', async () => {
  const files = [result('one.json'), result('two.json', { [conformance]: ['passed', 'pending'] })]
  expect(await run(...files)).toEqual({
    code: 0,
    stdout: `${2 * onServer.length} passed, 0 failed, 1 skipped\n`,
    stderr: '',
  })
})

test.each([
  ['were all skipped', ['pending', 'pending']],
  ['did not run', null],
] as const)('fails where tests on a server %s, in any of the runs', async (_how, statuses) => {
  const ended = await run(result('whole.json'), result('part.json', { [conformance]: statuses }))
  expect(ended.code).toBe(1)
  expect(ended.stderr).toMatch(
    new RegExp(`^no test on a PostgreSQL ran: ${conformance} \\(.*part.json\\)\n$`),
  )
})

test('lets a file be skipped that is named', async () => {
  const file = result('pooler.json', { [behindPooler]: ['pending'] })
  expect(await run(file)).toMatchObject({ code: 1 })
  expect(await run(file, '--may-skip', behindPooler)).toMatchObject({ code: 0 })
})

test('fails where a test failed, a file could not be loaded, nothing ran, or there is no result', async () => {
  const failing = [
    result('failed.json', { [behindPooler]: ['failed'] }),
    result('unloaded.json', { [behindPooler]: [] }, behindPooler),
    result('without-setup.json', { [behindPooler]: ['pending'] }, behindPooler),
  ]
  for (const file of failing) {
    const ended = await run(file, '--may-skip', behindPooler)
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(new RegExp(`^${onServer.length - 1} passed, 1 failed`))
  }
  expect(await run(path.join(directory, 'none.json'))).toMatchObject({ code: 1 })
  expect(await run()).toMatchObject({ code: 1 })
})
