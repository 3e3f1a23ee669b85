// The suite itself must not depend on the day or the place it is run: whatever asks for time is run under odd ones.
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const clockAt = new URL('../fixtures/clock-at.mjs', import.meta.url).href
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))

/** Those that have to do with instants, delays, clocks and figures in reports, as far as they are quick. */
const files = [
  'test/engine/jobs',
  'test/engine/recovery/watch.test.ts',
  'test/engine/settings.test.ts',
  'test/engine/system.test.ts',
  'test/report',
  'test/sim/clock',
]

async function ranAt(at: string, zone: string): Promise<{ passed: number; failed: string[] }> {
  const args = [vitest, 'run', '--reporter=json', '--no-isolate', '--maxWorkers=1', ...files]
  const env = { ...process.env, TZ: zone, HOLDFAST_TEST_AT: at, NODE_OPTIONS: `--import=${clockAt}` }
  const run = promisify(execFile)(process.execPath, args, { cwd: root, env, maxBuffer: 2 ** 28 })
  const { stdout } = await run.catch((error: unknown) => error as { stdout: string })
  const { numPassedTests, testResults } = JSON.parse(stdout) as {
    numPassedTests: number
    testResults: { assertionResults: { fullName: string; status: string }[] }[]
  }
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  return {
    passed: numPassedTests,
    failed: all.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  }
}

describe('B09: the same tests pass', () => {
  test.each([
    ['2027-01-31T12:00:00Z', 'UTC'],
    ['2028-02-29T11:59:59Z', 'Pacific/Kiritimati'],
    ['2026-12-31T23:59:59Z', 'America/New_York'],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin'],
    ['2026-04-04T14:59:59Z', 'Australia/Lord_Howe'],
    ['2038-01-19T03:14:07Z', 'Asia/Kolkata'],
    ['2100-02-28T23:59:59Z', 'UTC'],
  ])(
    'at %s in %s',
    async (at, zone) => {
      const { passed, failed } = await ranAt(at, zone)
      expect(failed).toEqual([])
      expect(passed).toBeGreaterThan(200)
    },
    120_000,
  )
})

test('B09: no test reads the time of the machine, but those that are about it', () => {
  const readers = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) =>
      /Date\.now\(\)|new Date\(\)|performance\.now\(\)|hrtime/.test(
        readFileSync(`${root}/test/${file}`, 'utf8'),
      ),
    )
    .map((file) => file.replaceAll('\\', '/'))
  expect(readers.filter((file) => !file.startsWith('sim/guard/')).sort()).toEqual([
    // This one, which names them.
    'cases/B09-date-and-zone.test.ts',
    // Whose programs are planted leaks, or ask for virtual time.
    'cli/leaks.test.ts',
    'engine/system.test.ts',
    'sim/bench/explore.test.ts',
    'sim/bench/services.test.ts',
    'sim/bench/simulate.test.ts',
    'sim/bench/vitest.test.ts',
  ])
})
