import { expect, test } from 'vitest'
import { HoldfastError, InvalidArgument, StoreUnavailable } from '../../src/engine/errors.ts'
import type { EngineEvent } from '../../src/engine/history.ts'
import { createStoreHealth } from '../../src/engine/store-health.ts'
import { systemClock } from '../../src/engine/system.ts'

function health() {
  const told: EngineEvent[] = []
  return { told, ...createStoreHealth(systemClock, (event) => told.push(event), null) }
}

test('a store that does not answer cannot be reached, until it answers', async () => {
  const store = health()
  const away = store.ask('now', Promise.reject(new StoreUnavailable('no answer', 'maybe')))
  await expect(away).rejects.toThrow('no answer')
  expect(store.report()).toMatchObject({ reachable: false, failuresInARow: 1, lastReplyAgoMs: null })
  expect(store.told).toEqual([{ type: 'store.failed', call: 'now', sent: 'maybe' }])
  expect(await store.ask('now', Promise.resolve(7))).toBe(7)
  expect(store.report()).toMatchObject({ reachable: true, failuresInARow: 0 })
})

test('a store that will not take what it is given is there all the same', async () => {
  const store = health()
  await expect(store.ask('jobs.settle', Promise.reject(new InvalidArgument('too much')))).rejects.toThrow(
    'too much',
  )
  expect(store.report()).toMatchObject({ reachable: true, failuresInARow: 0, lastError: expect.any(String) })
  expect(store.report().lastReplyAgoMs).not.toBeNull()
  expect(store.told).toEqual([{ type: 'store.failed', call: 'jobs.settle', sent: 'answered' }])
})

class Refused extends HoldfastError {
  readonly code = 'STORE_REFUSED'
}

test.each([
  ['that refuses its user, has no tables or was closed', new Refused('no such user')],
  ['whose driver failed in a way of its own', new Error('no certificate')],
])('a store %s is of no more use than one that is silent', async (_what, error) => {
  const store = health()
  await store.ask('now', Promise.resolve(7))
  await expect(store.ask('claims.claim', Promise.reject(error))).rejects.toBe(error)
  expect(store.report()).toMatchObject({ reachable: false, failuresInARow: 1 })
  await store.ask('now', Promise.resolve(7))
  expect(store.report()).toMatchObject({ reachable: true, failuresInARow: 0 })
})
