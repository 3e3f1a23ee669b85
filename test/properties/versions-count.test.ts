import { describe, test } from 'vitest'
import { versionsCount as property } from '../../src/properties/index.ts'
import {
  cancelAsked,
  claimed,
  commanded,
  expectHolds,
  expectRefused,
  final,
  inserted,
  noted,
  reclaimed,
  renewed,
  said,
  settled,
} from './dsl.ts'

describe('versions-count (contract 0.14)', () => {
  test('counts each write of a job once, and no renewal nor checkpoint', () => {
    const attempt = [claimed('a'), renewed('a'), noted('a'), noted('a', { what: 'progress' })]
    expectHolds(
      property,
      [inserted('a'), inserted('a'), ...attempt, settled('a'), final('a', { version: 4 })],
      1,
    )
    const taken = [claimed('a'), reclaimed('a'), settled('a', { settled: 'lost' })]
    const cancel = [cancelAsked('a'), cancelAsked('a')]
    expectHolds(property, [inserted('a'), ...taken, ...cancel, final('a', { version: 4 })], 1)
    const dispatched = said('job.dispatched', { job: 'a' })
    expectHolds(property, [inserted('a', { undispatched: true }), dispatched, final('a', { version: 2 })], 1)
  })

  test('does not count a repeat', () => {
    const again = settled('a', { repeated: true })
    const twice = [settled('a', { outcome: 'failed', state: 'failed' }), again]
    const retry = commanded('a', { asked: 3, version: 4 })
    expectHolds(
      property,
      [inserted('a'), claimed('a'), ...twice, retry, retry, final('a', { version: 4 })],
      3,
    )
  })

  test('refuses a version that counts something else', () => {
    const run = [inserted('a'), claimed('a'), settled('a')]
    expectRefused(property, [...run, final('a', { version: 4 })], 'version-miscounted')
    expectRefused(property, [...run, final('a', { version: 2 })], 'version-miscounted')
    expectRefused(property, [inserted('a'), commanded('a', { asked: 1, version: 3 })], 'version-miscounted')
  })

  test('refuses that the repeat of what applied is refused', () => {
    const run = [inserted('a'), claimed('a'), settled('a', { outcome: 'failed', state: 'failed' })]
    const denied = commanded('a', { asked: 3, applied: false, version: 4 })
    expectRefused(property, [...run, commanded('a', { asked: 3, version: 4 }), denied], 'own-command-denied')
  })

  test('refuses a command that applies at another version than it names', () => {
    const run = [inserted('a'), claimed('a'), settled('a', { outcome: 'failed', state: 'failed' })]
    expectRefused(property, [...run, commanded('a', { asked: 2, version: 4 })], 'stale-command-applied')
    expectHolds(property, [...run, commanded('a', { asked: 2, applied: false, version: 3 })], 1)
  })
})
