import { describe, expect, it } from 'vitest'
import { InvalidArgument, InvalidConfig, StoreUnavailable } from '../../src/engine/errors.ts'
import type { Store } from '../../src/engine/ports/store.ts'
import { resilient } from '../../src/stores/resilient.ts'
import { database, failure } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { type VirtualClock, virtualClock } from '../support/virtual-clock.ts'
import { type Wire, wire } from '../support/wire.ts'

trapUnhandledRejections()

function made(callMs?: number): { clock: VirtualClock; connection: Wire; store: Store } {
  const clock = virtualClock()
  const connection = wire(database(clock).raw, () => clock.nowMs)
  return { clock, connection, store: resilient(connection.store, { clock, ...(callMs && { callMs }) }) }
}

const claim = {
  token: 't',
  worker: 'w',
  limit: 1,
  queues: [{ queue: 'q', limit: 1 }],
  kinds: ['k'],
  solo: 'take' as const,
}

describe('a store call', () => {
  it('is repeated after 0.2, 0.5, 1 and 2 s when it was not sent (8.1)', async () => {
    const { clock, connection, store } = made()
    connection.down('refuse')
    const claimed = failure(store.claims.claim(claim))
    await clock.advance(5_000)
    const error = await claimed
    expect(error).toMatchObject({ sent: 'no', cause: expect.any(StoreUnavailable) })
    const { message } = error as StoreUnavailable
    expect(message).toContain('claims.claim did not answer within 5000 ms, and failed before: ')
    expect(message).toContain(((error as StoreUnavailable).cause as Error).message)
    expect(connection.calls.map(({ atMs }) => atMs)).toEqual([0, 200, 700, 1_700, 3_700])
    expect(clock.armed).toEqual([])
  })

  it('is repeated after an unknown outcome only where the policy says so (8.2, 8.4)', async () => {
    const { clock, connection, store } = made()
    connection.next('claims.claim', 'lose-reply')
    await expect(store.claims.claim(claim)).rejects.toMatchObject({ sent: 'maybe' })
    connection.next('claims.renew', 'lose-reply', 'lose-request')
    const renewed = store.claims.renew({ worker: 'w', tokens: [] })
    await clock.advance(700)
    expect(await renewed).toEqual({ held: [] })
    expect(connection.calls.map(({ call }) => call)).toEqual([
      'claims.claim',
      'claims.renew',
      'claims.renew',
      'claims.renew',
    ])
    expect(clock.armed).toEqual([])
  })

  it('is marked as a repeat from the first unknown outcome on, and not before (8.3)', async () => {
    const { clock, connection, store } = made()
    const outcome = { kind: 'succeeded', result: null } as const
    connection.next('jobs.settle', 'refuse', 'lose-request', 'refuse')
    const settlements = [{ id: 'x', epoch: 1, outcome, repeated: false }]
    const settled = store.jobs.settle({ worker: 'w', settlements })
    await clock.advance(5_000)
    await settled
    const marks = connection
      .sent('jobs.settle')
      .map((params) => JSON.stringify(params).includes('"repeated":true'))
    expect(marks).toEqual([false, false, true, true])
  })

  it('ends at its bound, repeats and silence included, and leaves no timer (3.13)', async () => {
    const { clock, connection, store } = made(3_000)
    connection.next('jobs.get', 'refuse', 'hang')
    const asked = failure(store.jobs.get({ id: 'x' }))
    connection.next('now', 'refuse', 'refuse', 'refuse', 'refuse')
    const told = failure(store.now())
    await clock.advance(3_000)
    expect(await asked).toMatchObject({ code: 'STORE_UNAVAILABLE', sent: 'maybe' })
    expect(await told).toMatchObject({ sent: 'no' })
    expect(clock.armed).toEqual([])
  })

  it('that fails after its bound is over, for everybody', async () => {
    const { clock, connection, store } = made()
    connection.next('claims.renew', 'hang')
    const renewed = failure(store.claims.renew({ worker: 'w', tokens: [] }))
    await clock.advance(5_000)
    expect(await renewed).toBeInstanceOf(StoreUnavailable)
    connection.next('claims.renew', new InvalidArgument('late'))
    connection.letGo()
    await clock.settle()
    expect(clock.armed).toEqual([])
  })

  it('that the store answers with another error is not repeated', async () => {
    const { clock, connection, store } = made()
    connection.next('jobs.get', new InvalidArgument('no'))
    await expect(store.jobs.get({ id: 'x' })).rejects.toThrow(InvalidArgument)
    expect(clock.armed).toEqual([])
  })

  it.each(['claims.renew', 'jobs.settle'] as const)(
    'that throws at once is a rejection: %s',
    async (call) => {
      const { clock, connection } = made()
      const [facet, method] = call.split('.') as ['jobs', 'settle']
      const thrower = (): never => {
        throw new TypeError('bug of an adapter')
      }
      const bad = { ...connection.store, [facet]: { ...connection.store[facet], [method]: thrower } }
      const store = resilient(bad, { clock })
      const asked =
        facet === 'jobs'
          ? store.jobs.settle({ worker: 'w', settlements: [] })
          : store.claims.renew({ worker: 'w', tokens: [] })
      await expect(asked).rejects.toThrow(TypeError)
      expect(clock.armed).toEqual([])
    },
  )

  it('has a bound that is a number of ms', () => {
    const { connection } = made()
    for (const callMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => resilient(connection.store, { callMs })).toThrow(InvalidConfig)
  })
})
