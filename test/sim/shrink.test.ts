// A failing run is cut down to what it takes: of the faults and steps that are left, none can go.
import { describe, expect, test } from 'vitest'
import { property } from '../../src/properties/property.ts'
import { judge } from '../../src/sim/judge.ts'
import { everything } from '../../src/sim/scenarios/everything.ts'
import type { RunResult } from '../../src/sim/run.ts'
import { type ShrinkOptions, fingerprintOf, shrink } from '../../src/sim/shrink.ts'
import { play } from './support.ts'

/** A run that fails iff all of `needs` are there; `other` is a second failure, of another kind. */
function candidates(needs: readonly (string | number)[], other: readonly (string | number)[] = []) {
  const ran: (string | number)[][] = []
  const violation = (kind: string) => ({
    property: 'p',
    kind,
    on: 'job.claimed',
    subject: 'j',
    message: 'm',
    atMs: 1,
    event: 1,
  })
  const play = ({ plan, without }: Pick<RunResult, 'plan' | 'without'>): Promise<RunResult> => {
    const there = [...plan.map(({ id }) => id), ...steps.filter((k) => !without.includes(k))]
    ran.push(there)
    const has = (all: readonly (string | number)[]): boolean => all.every((part) => there.includes(part))
    const violations = [
      ...(other.length > 0 && has(other) ? [violation('other')] : []),
      ...(has(needs) ? [violation('k')] : []),
    ]
    return Promise.resolve({ violations } as unknown as RunResult)
  }
  return { ran, play }
}

const steps = Array.from({ length: 30 }, (_, k) => k)
const plan = Array.from({ length: 12 }, (_, k) => ({ id: `f${k}`, family: 'crash', atMs: k }) as const)
const failing = { plan, steps: steps.length, without: [], story: null }
const options: ShrinkOptions = {
  fingerprint: { property: 'p', kind: 'k', on: 'job.claimed' },
  boundMs: 1_000,
}
const noTime = (): number => 0

describe('shrinking', () => {
  test.each([
    [['f3', 'f9', 4]],
    [['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'f9', 'f10', 'f11', ...steps]],
    [[29]],
    [[]],
    [['f11', 0, 15, 29]],
  ])('leaves exactly what is needed: %j', async (needs) => {
    const { play } = candidates(needs)
    const found = await shrink(failing, options, play, noTime)
    const left = [...found.plan.map(({ id }) => id), ...steps.filter((k) => !found.without.includes(k))]
    expect(left).toEqual(needs)
    expect(found).toMatchObject({ minimal: true, faults: 12, steps: 30 })
  })

  test('keeps to the failure that it began with, and names the other that it met (two bugs at once)', async () => {
    const { play } = candidates(['f1', 7], ['f2', 8])
    const found = await shrink(failing, options, play, noTime)
    expect(found.plan.map(({ id }) => id)).toEqual(['f1'])
    expect(found.also).toEqual(['p: other'])
  })

  test('never plays the same candidate twice', async () => {
    const { ran, play } = candidates(['f3', 'f9', 4])
    await shrink(failing, options, play, noTime)
    expect(new Set(ran.map(String)).size).toBe(ran.length)
  })

  test('stops when its time is over, with the best so far (B05)', async () => {
    const { ran, play } = candidates(['f3', 'f9', 4])
    const nowMs = (): number => ran.length * 100
    const found = await shrink(failing, { ...options, boundMs: 500 }, play, nowMs)
    expect(ran.length).toBe(5)
    expect(found.minimal).toBe(false)
    expect(found.plan.map(({ id }) => id)).toEqual(expect.arrayContaining(['f3', 'f9']))
  })
})

/** Wrong on purpose: refuses that a job which was evicted succeeds, so that it takes a fault and a job. */
const noComeback = property({
  name: 'no-comeback',
  kind: 'always',
  says: 'A job that was evicted does not succeed.',
  blindSpot: 'Everything else.',
  on: ['job.reclaimed', 'job.settled'],
  suspendedBy: [],
  start: () => ({ evicted: [] as string[] }),
  step: (state: { evicted: string[] }, event, verdict) => {
    verdict.evaluated()
    if (event.type === 'job.reclaimed') state.evicted.push(event.job)
    else if (event.state === 'succeeded' && state.evicted.includes(event.job))
      verdict.violated({ kind: 'came-back', subject: event.job, message: `${event.job} came back` })
  },
})

describe('a run', () => {
  test('is cut down to a set of which none can be left out, and that set still fails alike', async () => {
    const failed = await play({ scenario: everything, seed: 5n, properties: [noComeback], keepStory: true })
    const [first] = failed.violations
    if (!first) throw new TypeError('this seed does not fail')
    const fingerprint = fingerprintOf(first)
    const fails = async (over: Pick<RunResult, 'plan' | 'without'>): Promise<boolean> => {
      const { violations } = await play({ scenario: everything, seed: 5n, properties: [noComeback], ...over })
      return violations.some(({ kind }) => kind === 'came-back')
    }
    const found = await shrink(
      failed,
      { fingerprint, boundMs: 60_000 },
      (over) => play({ scenario: everything, seed: 5n, properties: [noComeback], ...over }),
      noTime,
    )
    expect(found.plan.length + found.steps - found.without.length).toBeLessThan(6)
    expect(await fails(found)).toBe(true)
    for (const fault of found.plan) {
      expect(await fails({ ...found, plan: found.plan.filter((other) => other !== fault) })).toBe(false)
    }
    const kept = Array.from({ length: found.steps }, (_, k) => k).filter((k) => !found.without.includes(k))
    for (const step of kept) expect(await fails({ ...found, without: [...found.without, step] })).toBe(false)
  })

  test('that does not fail is told as it came', async () => {
    const request = {
      seed: '0x5',
      scenario: 'standard',
      store: 'memory',
      families: null,
      verify: false,
      story: false,
      plan: null,
      draws: null,
    }
    const shrunk = await judge(
      { ...request, fingerprint: options.fingerprint, shrinkMs: 0 },
      [everything, { ...everything, name: 'standard' }],
      {},
    )
    expect([shrunk.verdict, shrunk.shrunk?.minimal, shrunk.shrunk?.passing]).toEqual(['pass', false, null])
  })
})
