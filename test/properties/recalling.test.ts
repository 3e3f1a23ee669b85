import { describe, expect, test } from 'vitest'
import * as all from '../../src/properties/index.ts'
import {
  acknowledged,
  backedUp,
  claimed,
  commanded,
  expectHolds,
  expectRefused,
  final,
  inserted,
  judge,
  node,
  began,
  reclaimed,
  renewed,
  restored,
  settled,
  started,
  takenBack,
  timeline,
} from './dsl.ts'

const first = 1_000_000
const anew = { epoch: first + 1 }

describe('a property whose state is that of the store, after a restore from a backup', () => {
  test('knows what it knew when the backup was made, and nothing later', () => {
    const lost = [inserted('a'), backedUp(), settled('a'), inserted('b'), acknowledged('b'), restored()]
    expectHolds(all.noLostJob, [...lost, final('a')], 2)
    expectRefused(all.noLostJob, [...lost, final('a'), final('b')], 'never-inserted')
    const ended = [claimed('a'), backedUp(), settled('a'), restored(), timeline(), takenBack('a')]
    expect(judge(all.singleTerminalState, [...ended, claimed('a', anew)]).kinds).toEqual([])
    const before = [claimed('a'), settled('a'), backedUp(), restored(), timeline(), claimed('a', anew)]
    expectRefused(all.singleTerminalState, before, 'moved-after-the-end')
  })

  test('goes back to the same backup as often as it is restored', () => {
    const once = [inserted('a'), backedUp(), inserted('b'), restored(), inserted('c')]
    expectHolds(all.noLostJob, [...once, restored(), final('a')], 1)
  })

  test('knows nothing where no backup was made', () => {
    expectRefused(all.noLostJob, [inserted('a'), restored(), final('a')], 'never-inserted')
  })
})

describe('exactly-once-claim, after a restore', () => {
  const back = [claimed('a'), backedUp(), restored(), timeline(), takenBack('a')]

  test('accepts that epochs leap to where the timeline begins, of what ran, waited, ended or is new', () => {
    const again = [claimed('a', anew), started('a', anew), settled('a', anew)]
    expectHolds(all.exactlyOnceClaim, [...back, ...again, claimed('b', anew)])
  })

  test('refuses one that does not leap, or leaps too far', () => {
    expectRefused(all.exactlyOnceClaim, [...back, claimed('a', { epoch: 2 })], 'epoch-not-risen')
    expectRefused(all.exactlyOnceClaim, [...back, claimed('b', { epoch: first + 2 })], 'epoch-skipped')
    const stays = [claimed('a'), backedUp(), restored(), timeline(), takenBack('a', { epoch: 1 })]
    expectRefused(all.exactlyOnceClaim, stays, 'epoch-not-risen')
  })

  test('refuses that a job is taken back which did not run when the backup was made', () => {
    const lost = [backedUp(), claimed('a'), restored(), timeline(), takenBack('a')]
    expectRefused(all.exactlyOnceClaim, lost, 'taken-from-nobody')
  })
})

test('fencing lets the holder of the backup write until the operator has said so, and nobody of the lost hours', () => {
  const history = [claimed('a'), backedUp(), reclaimed('a'), claimed('a', { epoch: 3, by: 'w2' }), restored()]
  expectHolds(all.fencing, [...history, renewed('a'), settled('a')], 2)
  expectRefused(all.fencing, [...history, settled('a', { epoch: 3, by: 'w2' })], 'unfenced-settle')
  const over = [...history, timeline(), takenBack('a'), settled('a')]
  expectRefused(all.fencing, over, 'unfenced-settle')
})

test('versions-count counts the leap of what waits and of what ran once each, and no repeat of the call', () => {
  const history = [inserted('a'), inserted('b'), claimed('b'), backedUp(), restored(), timeline()]
  const rest = [takenBack('b'), timeline(), final('a', { version: 2 }), final('b', { version: 3 })]
  expectHolds(all.versionsCount, [...history, ...rest], 2)
  const twice = [takenBack('b'), timeline(), final('a', { version: 3 })]
  expectRefused(all.versionsCount, [...history, ...twice], 'version-miscounted')
})

test('exact-budgets: what is taken back is charged nothing', () => {
  const back = [inserted('a'), claimed('a'), backedUp(), restored(), timeline(), takenBack('a')]
  expectHolds(all.exactBudgets, [...back, claimed('a', { ...anew, attempt: 2 })])
  const charged = claimed('a', { ...anew, attempt: 2, evictions: 1 })
  expectRefused(all.exactBudgets, [...back, charged], 'evictions-miscounted')
})

test('capacity goes on counting the handlers of a process that slept through it', () => {
  const runs = [node('started'), ...['a', 'b', 'c'].map((job) => inserted(job))]
  const busy = [claimed('a'), began('a'), backedUp(), claimed('b'), began('b'), restored(), timeline()]
  expectHolds(all.capacity, [...runs, ...busy])
  expectRefused(all.capacity, [...runs, ...busy, claimed('c', anew), began('c', anew)], 'over-capacity')
})

test('a job that failed in the lost hours is no dead letter, and cannot be retried', () => {
  const failed = { outcome: 'failed', state: 'failed', permanent: true } as const
  const history = [inserted('a'), claimed('a'), backedUp(), settled('a', failed), restored()]
  expectRefused(all.singleTerminalState, [...history, commanded('a')], 'retried-unended')
})
