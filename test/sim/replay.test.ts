import { describe, expect, test, vi } from 'vitest'
import { InvalidArgument } from '../../src/engine/errors.ts'
import { property } from '../../src/properties/property.ts'
import { type ReplayFile, parseReplay, replayOf } from '../../src/sim/replay.ts'
import { everything } from '../../src/sim/scenarios/everything.ts'
import { play } from './support.ts'

/** Wrong on purpose: refuses the third claim. */
const noThirdClaim = property({
  name: 'no-third-claim',
  kind: 'always',
  says: 'Nobody claims a third time.',
  blindSpot: 'Everything.',
  on: ['job.claimed'],
  suspendedBy: [],
  start: () => ({ claims: 0 }),
  step: (state: { claims: number }, event, verdict) => {
    verdict.evaluated()
    state.claims += 1
    const message = `claim ${state.claims} is of ${event.job}`
    if (state.claims === 3) verdict.violated({ kind: 'third', subject: event.job, message })
  },
})

const about = { version: '0.1.0', engine: '4f2ac0f', file: null, store: 'memory' }
const failing = { scenario: everything, seed: 3n, properties: [noThirdClaim] }

/** A failing run as a file, written and read. */
async function fileOf(): Promise<ReplayFile> {
  return parseReplay(JSON.stringify(replayOf(await play({ ...failing, keepDraws: true }), about)))
}

/** The run of a file; the seed plays no part in it. */
function again({ plan, draws }: ReplayFile, over: object = {}) {
  return play({ ...failing, seed: 0n, plan, draws, ...over })
}

describe('a replay', () => {
  test('is the same failure: property, kind, subject, event and trace', async () => {
    const file = await fileOf()
    const result = await again(file)
    expect(result.verdict).toBe('violated')
    const [first] = result.violations
    expect(first).toMatchObject({
      property: file.property,
      kind: file.kind,
      subject: file.subject,
      message: file.message,
      event: file.event,
    })
    expect(file).toMatchObject({ property: 'no-third-claim', kind: 'third' })
    expect([result.traceHash, result.plan]).toEqual([file.traceHash, file.plan])
  })

  test('names its own first choice that is not in the list, wherever that is', async () => {
    const file = await fileOf()
    for (const at of [0, 10, 500]) {
      const draws = [...file.draws]
      draws[2 * at] = (draws[2 * at] ?? 0) ^ 1
      const result = await again({ ...file, draws })
      expect([result.verdict, at]).toEqual(['diverged', at])
      expect(result.detail).toMatch(new RegExp(`^diverged at event \\d+: choice ${at + 1} is \\w+ of `))
    }
  })

  test('diverges when the list ends too early, in the middle of a store call', async () => {
    const file = await fileOf()
    // Whoever asks for the missing choice, an engine among them, may swallow what is thrown at it.
    for (let choices = 496; choices < 504; choices++) {
      const result = await again({ ...file, draws: file.draws.slice(0, 2 * choices) })
      expect([result.verdict, result.detail]).toEqual([
        'diverged',
        expect.stringContaining(`: choice ${choices + 1} is `) as string,
      ])
    }
  })

  test('diverges when another drawn value leads elsewhere', async () => {
    const file = await fileOf()
    const latencies = [...file.draws.keys()].filter((k) => k % 2 === 1 && k > 400 && k < 600)
    const draws = file.draws.map((draw, k) => (latencies.includes(k) && draw > 20 ? draw - 20 : draw))
    const result = await again({ ...file, draws })
    expect(result.traceHash).not.toBe(file.traceHash)
  })

  test('diverges when the workload is another', async () => {
    const file = await fileOf()
    const scenario = { ...everything, name: 'renamed' }
    const result = await again(file, { scenario })
    expect([result.verdict, result.events]).toEqual(['diverged', 0])
    expect(result.detail).toMatch(/^diverged at event 0: choice 1 is workload of renamed for /)
  })
})

describe('a replay file', () => {
  test('holds no environment, and no path of the machine (X04)', async () => {
    vi.stubEnv('HOLDFAST_SECRET', 'marker-in-the-environment')
    const text = JSON.stringify(await fileOf())
    vi.unstubAllEnvs()
    for (const secret of [process.cwd(), process.execPath, 'marker-in-the-environment'])
      expect(text).not.toContain(secret)
    const keys = Object.keys(JSON.parse(text) as object).sort()
    expect(keys.join(' ')).toBe(
      'deviations draws engine event file format kind message on plan property scenario seed store subject traceHash version without',
    )
  })

  test.each(['', '{', 'hello', '\u0000', '{"format":"holdfast-replay-1"'])('%j is no JSON', (text) => {
    expect(() => parseReplay(text)).toThrow(InvalidArgument)
  })

  const fault = { id: 'crash #1', family: 'crash', atMs: 1 }
  test.each<[string, object]>([
    ['of another format', { format: 'holdfast-replay-2' }],
    ['without a scenario', { scenario: undefined }],
    ['with a seed that is a number', { seed: 7 }],
    ['without a plan', { plan: null }],
    ['with a plan of something else', { plan: [1] }],
    ['with a family that this version does not know', { plan: [{ ...fault, family: 'flood' }] }],
    ['with a fault before the beginning', { plan: [{ ...fault, atMs: -1 }] }],
    ['without draws', { draws: undefined }],
    ['with draws that are text', { draws: ['1'] }],
    ['with draws that are parts', { draws: [0.5] }],
    ['with a property that is an object', { property: {} }],
    ['with a module that is a number', { file: 7 }],
    ['without its event', { event: '7' }],
  ])('%s is refused', async (_, over) => {
    const file = await fileOf()
    expect(() => parseReplay(JSON.stringify({ ...file, ...over }))).toThrow(InvalidArgument)
    expect(() => parseReplay(JSON.stringify({ ...file, plan: [fault] }))).not.toThrow()
  })

  test.each(['null', '[]', '7', '"text"', 'true'])('%s is refused', (text) => {
    expect(() => parseReplay(text)).toThrow(/no replay file that this version reads/)
  })
})
