// The identity of a state needs each of its parts: without one, states are taken for one that go on differently.
import { describe, expect, test } from 'vitest'
import { type Property, property } from '../../../src/properties/property.ts'
import { type Alike, audit } from '../../../src/sim/explore/audit.ts'
import { type Component, components } from '../../../src/sim/explore/identity.ts'
import { intervals, nap } from '../../../src/sim/explore/topologies/common.ts'
import type { FaultOption, Topology } from '../../../src/sim/explore/topology.ts'
import { beyond, reached, small } from './support.ts'

const claims = ['claims.claim', 'claims.recover']
const later = { atMs: 9_000, job: nap, input: { forMs: 2_000 }, options: { id: 'j1' } }

/** Wrong on purpose: it remembers what nothing else shows any more. */
const noneAfterEarlyLoss: Property = property({
  name: 'none-after-early-loss',
  kind: 'always',
  says: 'Nothing is claimed once a message was lost in the first second.',
  blindSpot: 'None.',
  on: ['fault.struck', 'job.claimed'],
  suspendedBy: [],
  start: (): { lost: boolean } => ({ lost: false }),
  step(state, event, verdict) {
    if (event.type === 'fault.struck') state.lost ||= event.atMs < 1_000
    else if (state.lost) verdict.violated({ kind: 'claimed', subject: event.job, message: 'after a loss' })
  },
})

/** Wrong on purpose: it looks at which process of a machine it is. */
const noneBySuccessor: Property = property({
  name: 'none-by-successor',
  kind: 'always',
  says: 'Nothing is claimed by the second process of a machine.',
  blindSpot: 'None.',
  on: ['job.claimed'],
  suspendedBy: [],
  start: () => ({}),
  step(_, { incarnation, job }, verdict) {
    if (incarnation > 1) verdict.violated({ kind: 'claimed', subject: job, message: 'by a successor' })
  },
})

interface Shown {
  readonly says: string
  readonly topology: Topology
  readonly deviations: number
}

/** That fault to these calls, once for each length; of none if it has none. */
function lasts(
  family: FaultOption['family'],
  calls: readonly string[],
  ...lengthsMs: number[]
): FaultOption[] {
  return lengthsMs.length === 0 ? [{ family, calls }] : lengthsMs.map((forMs) => ({ family, forMs, calls }))
}

/** A cancelled job that only an operator begins anew: so all that changes is the process. */
const idle: Partial<Topology> = { orders: [{ atMs: 25, command: 'cancel', job: 'j1' }] }

const begunAnew: FaultOption = {
  family: 'operator',
  order: { command: 'retry', job: 'j1' },
  calls: ['claims.claim'],
}

const shown: Readonly<Record<Component, Shown>> = {
  database: {
    says: 'whether a hold without an answer had landed',
    topology: small({
      orders: [{ atMs: 25, command: 'hold' }],
      faults: [...lasts('lost-request', ['control.set']), ...lasts('lost-reply', ['control.set'])],
    }),
    deviations: 1,
  },
  claims: {
    says: 'whether a claim that is still under way was made void by a recovery that got no answer',
    topology: small({
      faults: [
        ...lasts('late-request', ['claims.claim'], 9_000),
        ...lasts('lost-request', ['claims.recover']),
        ...lasts('lost-reply', ['claims.recover']),
      ],
    }),
    deviations: 2,
  },
  inserts: {
    says: 'which of two requests of a producer has created the job',
    topology: small({
      faults: [
        ...lasts('late-request', ['jobs.insert'], 2_000, 9_000),
        { family: 'database-restart', forMs: 500, lands: true, calls: ['jobs.insert'] },
      ],
      horizonMs: 14_000,
    }),
    deviations: 3,
  },
  nodes: {
    says: 'how long a worker has found nothing: it polls at the same time, and then not',
    topology: small({
      intervals: { ...intervals, pollMs: 1_000, pollMsMax: 8_000 },
      work: [{ ...later, atMs: 4_000 }],
      faults: lasts('slow-reply', claims, 2_020),
    }),
    deviations: 1,
  },
  restarts: {
    says: 'which process of its machine it is',
    topology: small({
      ...idle,
      faults: [...lasts('crash', ['watch.declare'], 2_000), begunAnew],
      properties: [noneBySuccessor],
    }),
    deviations: 2,
  },
  deferred: {
    says: 'what came for a process while it stood still',
    topology: small({
      faults: [
        ...lasts('lost-reply', ['claims.claim']),
        ...lasts('pause', ['claims.claim', 'watch.move'], 7_000),
      ],
    }),
    deviations: 2,
  },
  messages: {
    says: 'whether a request is under way',
    topology: small({ faults: lasts('late-request', ['jobs.settle'], 3_000) }),
    deviations: 1,
  },
  timers: {
    says: 'when a worker polls next',
    topology: small({ work: [later], faults: lasts('slow-reply', claims, 2_000) }),
    deviations: 1,
  },
  environment: {
    says: 'when a process starts again',
    topology: small({ faults: lasts('crash', ['jobs.settle'], 2_000, 5_000) }),
    deviations: 1,
  },
  monitors: {
    says: 'what a property remembers',
    topology: small({
      work: [later],
      faults: lasts('lost-reply', ['watch.move']),
      properties: [noneAfterEarlyLoss],
    }),
    deviations: 1,
  },
  time: {
    says: 'how much time is left for what comes of it',
    topology: small({
      ...idle,
      faults: [...lasts('crash', ['watch.declare'], 9_000, 2_000), begunAnew],
      properties: [noneBySuccessor],
      horizonMs: 10_000,
    }),
    deviations: 2,
  },
}

const [audited, continuations] = [50, 32]

async function differs(topology: Topology, alike: readonly Alike[]): Promise<boolean> {
  for (const one of alike) if (await audit(topology, one, continuations)) return true
  return false
}

describe('the identity of a state', () => {
  test.each(components)('needs its %s', async (omit) => {
    const { topology, deviations } = shown[omit]
    const all = await reached(topology, { deviations, prune: false })
    const less = await reached(topology, { deviations, identity: { omit } })
    const isMissed =
      less.explored.complete !== all.explored.complete ||
      beyond(all.databases, less.databases).length > 0 ||
      (await differs(topology, less.alike))
    expect(isMissed).toBe(true)
  })

  test.each(components)('is whole where it needs its %s', async (shows) => {
    const { topology, deviations } = shown[shows]
    const all = await reached(topology, { deviations, prune: false })
    const pruned = await reached(topology, { deviations })
    expect(pruned.explored.pruned).toBeGreaterThan(0)
    expect(pruned.explored.complete).toBe(all.explored.complete)
    // What is violated first may be another schedule, and the rest is not looked at.
    const unmet = all.explored.complete ? beyond(all.states, pruned.states) : []
    expect(unmet).toEqual([])
    const each = Math.ceil(pruned.alike.length / audited)
    expect(
      await differs(
        topology,
        pruned.alike.filter((_, k) => k % each === 0),
      ),
    ).toBe(false)
  })
})
