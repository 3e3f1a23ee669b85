import { describe, expect, test } from 'vitest'
import { InvalidArgument } from '../../../src/engine/errors.ts'
import { intervalsOf } from '../../../src/engine/settings.ts'
import { explore } from '../../../src/sim/explore/explore.ts'
import { core } from '../../../src/sim/explore/topologies/common.ts'
import { topologies, topologyNamed } from '../../../src/sim/explore/topologies/index.ts'

describe('the topologies', () => {
  test('have names of their own, by which they are found', () => {
    expect(new Set(topologies.map(({ name }) => name)).size).toBe(topologies.length)
    for (const topology of topologies) expect(topologyNamed(topology.name, topologies)).toBe(topology)
    expect(() => topologyNamed('none', topologies)).toThrow(InvalidArgument)
    expect(() => topologyNamed('none', topologies)).toThrow(/there are claim-race, .*, standard/)
  })

  test.each(topologies.filter(({ work }) => work.length > 0))(
    '$name: at least four polls, three heartbeats and a sweep within a lease',
    ({ intervals, jobs }) => {
      const { pollMsMax, heartbeatMs, sweepMs } = intervalsOf(intervals)
      const ttlMs = Math.min(...jobs.map(({ settings }) => settings.leaseTtlMs))
      expect([ttlMs / pollMsMax >= 4, ttlMs / heartbeatMs >= 3, ttlMs / sweepMs >= 1]).toEqual([
        true,
        true,
        true,
      ])
    },
  )

  test('put all that they share to the test, among them', async () => {
    const topology = topologyNamed('reclaim-against-settle', topologies)
    const { properties } = await explore({
      topology,
      deviations: 1,
      statesMax: 2 ** 14,
      schedulesMax: 2 ** 14,
    })
    expect(properties.filter(({ evaluations }) => evaluations === 0)).toEqual([])
  })

  test.each(topologies)(
    '$name: one deviation violates nothing, and puts its own properties to the test',
    async (topology) => {
      const explored = await explore({ topology, deviations: 1, statesMax: 2 ** 17, schedulesMax: 2 ** 17 })
      expect(explored).toMatchObject({ complete: true, found: null })
      expect(explored.pruned).toBeGreaterThan(0)
      const common = new Set(core.map(({ name }) => name))
      const vacuous = explored.properties.filter(
        ({ name, evaluations }) => !common.has(name) && evaluations === 0,
      )
      expect(vacuous).toEqual([])
    },
  )
})
