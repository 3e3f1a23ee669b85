// States that are taken for one go on alike, by whatever choices.
import { describe, expect, test } from 'vitest'
import { audit } from '../../../src/sim/explore/audit.ts'
import { topologies, topologyNamed } from '../../../src/sim/explore/topologies/index.ts'
import { beyond, reached } from './support.ts'

const [sample, continuations] = [4, 32]

describe('what is taken for known goes on as that did', () => {
  test.each([
    'claim-race',
    'zombie-settle',
    'shutdown-against-claim',
    'retry-against-reclaim',
    'schedule-hand-over',
    'replay-race',
  ])('%s', { timeout: 60_000 }, async (name) => {
    const topology = topologyNamed(name, topologies)
    const { alike } = await reached(topology, { deviations: 1 })
    const each = Math.max(1, Math.floor(alike.length / sample))
    const audited = alike.filter((_, k) => k % each === 0)
    expect(audited.length).toBeGreaterThanOrEqual(sample)
    for (const one of audited) expect(await audit(topology, one, continuations)).toBe(null)
  })
})

test('an audit tells where two states go on differently, and how', async () => {
  const topology = topologyNamed('lost-claim-reply', topologies)
  const alike = { pruned: { path: [], step: 20 }, known: { path: [], step: 40 } }
  const difference = await audit(topology, alike, continuations)
  expect(difference).toMatchObject({ alike, continuation: 0 })
  expect(difference?.says).toMatch(/^\+\d+ ms .*, and from the known state \+\d+ ms /)
  expect(await audit(topology, { pruned: alike.known, known: alike.known }, continuations)).toBe(null)
})

test('a process that rests is one that met all that it met: without, the same is reached by more states', async () => {
  const topology = topologyNamed('reclaim-against-settle', topologies)
  const resting = await reached(topology, { deviations: 1 })
  const restless = await reached(topology, { deviations: 1, identity: { rest: false } })
  expect(beyond(restless.databases, resting.databases)).toEqual([])
  expect(beyond(resting.databases, restless.databases)).toEqual([])
  expect(restless.states.size).toBeGreaterThan(resting.states.size)
})
