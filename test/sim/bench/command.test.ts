// A bench on the command line: its own properties are judged, tallied, shrunk, replayed, and missed.
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
