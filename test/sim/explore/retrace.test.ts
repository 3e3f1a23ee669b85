// A schedule again, by its deviations.
import { describe, expect, test } from 'vitest'
import { type Property, property } from '../../../src/properties/property.ts'
import { explore } from '../../../src/sim/explore/explore.ts'
import { retrace } from '../../../src/sim/explore/retrace.ts'
import { topologies } from '../../../src/sim/explore/topologies/index.ts'
import type { Deviation, Topology } from '../../../src/sim/explore/topology.ts'
import { walk } from '../../../src/sim/explore/walk.ts'
import { small } from './support.ts'

/** Wrong on purpose: any lost reply of a claim breaks it, and only the second one here shows it. */
const neverTwice: Property = property({
  name: 'never-twice',
  kind: 'always',
  says: 'No two claims are in doubt.',
  blindSpot: 'None.',
  on: ['claim.unknown'],
  suspendedBy: [],
  start: (): { count: number } => ({ count: 0 }),
  step(state, { token }, verdict) {
    verdict.evaluated()
    state.count += 1
    if (state.count > 1) verdict.violated({ kind: 'twice', subject: token, message: 'it was in doubt again' })
  },
})

const topology = small({
  faults: [{ family: 'lost-reply', calls: ['claims.claim'] }],
  properties: [neverTwice],
  deviations: 3,
})

async function found(): Promise<{ deviations: readonly Deviation[]; traceHash: string; kinds: string[] }> {
  const explored = await explore({ topology, statesMax: 2 ** 14, schedulesMax: 2 ** 12 })
  const { found } = explored
  if (!found) throw new Error('nothing was found')
  expect(explored.complete).toBe(false)
  return { ...found, kinds: found.violations.map(({ kind }) => kind) }
}

describe('what was found', () => {
  test('has the fewest deviations that show it', async () => {
    const { deviations, kinds } = await found()
    expect(kinds).toEqual(['twice'])
    expect(deviations.map((one) => one.what === 'fault' && one.fault.family)).toEqual([
      'lost-reply',
      'lost-reply',
    ])
  })

  test('is found again by its deviations, with the same trace, also from a file', async () => {
    const { deviations, traceHash } = await found()
    const stored = JSON.parse(JSON.stringify(deviations)) as Deviation[]
    const again = await retrace(topology, stored)
    expect(again).toMatchObject({ verdict: 'violated', traceHash })
    expect(again.violations.map(({ property }) => property)).toEqual(['never-twice'])
    expect((await retrace(topology, stored, { keepStory: true })).traceHash).toBe(traceHash)
  })

  test('is not where less goes wrong', async () => {
    const { deviations } = await found()
    expect(await retrace(topology, deviations.slice(0, 1))).toMatchObject({ verdict: 'pass', violations: [] })
  })

  test('diverges on another topology', async () => {
    const { deviations } = await found()
    const [first, second] = deviations as [Deviation, Deviation]
    const early = small({ ...topology, horizonMs: 3_000 })
    expect(await retrace(early, deviations)).toMatchObject({ verdict: 'diverged' })
    expect(await retrace(topology, [{ ...first, step: first.step + 1 }, second])).toMatchObject({
      verdict: 'diverged',
      detail: expect.stringContaining('the code or the topology is not that of the recording') as string,
    })
  })
})

describe('a schedule has one trace', () => {
  test.each(topologies.map((topology) => [topology.name, topology] as const))(
    '%s',
    async (_, topology: Topology) => {
      const hashes = new Set<string>()
      for (let k = 0; k < 3; k++) {
        const { recorder, steps } = await walk({ topology, choose: () => null, keepStory: k === 1 })
        hashes.add(`${recorder.digest()} ${steps}`)
      }
      hashes.add(`${(await retrace(topology, [])).traceHash} ${[...hashes][0]?.split(' ')[1]}`)
      expect([...hashes]).toHaveLength(1)
    },
  )
})
