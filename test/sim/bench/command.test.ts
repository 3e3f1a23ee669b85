// A bench on the command line: its own properties are judged, tallied, shrunk, replayed, and missed.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { desk, fixture } from '../../cli/holdfast.ts'

const { run, shell, replays, clear } = desk()
afterAll(clear)
const benches = fixture('benches')

interface Json {
  readonly verdict: string
  readonly properties: readonly { name: string; evaluations: number; violations: number; reached: boolean }[]
  readonly failures: readonly { property: string; replay: string | null }[]
}

async function simulated(scenario: string) {
  const ended = await run(['simulate', benches, '--scenario', scenario, '--seeds', '12', '--json'])
  const json = JSON.parse(ended.stdout) as Json
  return { ...ended, json, own: (name: string) => json.properties.find((property) => property.name === name) }
}

test('one that holds passes, and its property is in the report', async () => {
  const { code, json, own } = await simulated('holds')
  expect([code, json.verdict]).toEqual([0, 'pass'])
  expect(own('ends')).toMatchObject({ violations: 0, reached: true })
  expect(own('ends')?.evaluations).toBeGreaterThan(100)
  expect(own('never-asked')).toBeUndefined()
})

test('one that is violated exits 1, shrunk, and its replay file brings it about again', async () => {
  const { stdout } = await run(['simulate', benches, '--scenario', 'violated', '--seeds', '12'])
  expect(stdout).toMatch(/\n {2}starts-once {2,}always +\d+ +\d+\n/)
  expect(stdout).toMatch(/FAIL starts-once[^]*faults drawn \d+, needed 1; jobs drawn 10, needed 1 /)
  const line = /replay: (npx holdfast replay .*)/.exec(stdout)?.[1] ?? ''
  expect(replays().length).toBeGreaterThan(0)
  const again = await shell(line)
  expect(again.stdout).toContain('FAIL  the recorded failure, at the same event')
  expect(again.code).toBe(1)
})

test('one whose property is never evaluated is inconclusive', async () => {
  const { code, json, own } = await simulated('vacuous')
  expect([code, json.verdict]).toEqual([3, 'inconclusive'])
  expect(own('never-asked')).toMatchObject({ evaluations: 0, reached: false })
})

const detached = `
import { defineJob } from 'holdfast'
import { bench, simulate } from 'holdfast/sim'
const job = defineJob({ name: 'job', run: async () => void Promise.reject(new Error('nobody listens')) })
const left = bench({ name: 'left', jobs: [job], workload: ({ enqueue }) => enqueue(job, null, { id: 'a' }) })
const { where, guard, failures } = await simulate(left, { seeds: 1 })
console.log(JSON.stringify({ where, guard, kind: failures[0]?.kind, message: failures[0]?.message }))
`

test.each([
  [[], 'late'],
  [['--import', 'holdfast/sim/preload'], 'preloaded'],
])(
  'in a process of its own (%j) the guard is %s, and a rejection left behind ends its run',
  async (args, guard) => {
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, [...args, '--input-type=module', '--eval', detached])
    expect(JSON.parse(stdout)).toMatchObject({ where: 'here', guard, kind: 'error' })
    expect(stdout).toContain('nobody listens')
  },
)
