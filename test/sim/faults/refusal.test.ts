import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/engine/errors.ts'
import type { Store } from '../../../src/engine/ports/store.ts'
import { drawPlan, type Fault } from '../../../src/sim/faults/fault.ts'
import { familyNamed } from '../../../src/sim/faults/index.ts'
import { seededChooser } from '../../../src/sim/chooser.ts'
import { createWire } from '../../../src/sim/faults/wire.ts'
import { failovers } from '../../../src/sim/scenarios/failover.ts'
import { type HandWorld, handWorld, insert, isStored, play } from '../support.ts'

const readOnly: Fault = { id: 'read-only #1', family: 'read-only', atMs: 0, forMs: 5_000, how: 'read-only' }
const diskFull: Fault = { id: 'disk-full #1', family: 'disk-full', atMs: 0, forMs: 5_000 }
const aborted: Fault = { id: 'aborted #1', family: 'aborted', atMs: 0, node: 'w1', call: 'jobs.insert' }

const strike = ({ world, act }: HandWorld, fault: Fault): Promise<void> =>
  act(() => familyNamed(fault.family)?.strike(world, fault))

/** What a call is told within a second: `sent` of the failure, or that it was answered. */
async function told(hand: HandWorld, call: (store: Store) => Promise<unknown>): Promise<string> {
  let heard = 'nothing'
  await hand.act(() => {
    call(createWire(hand.world, hand.owner())).then(
      () => (heard = 'answered'),
      (error: unknown) =>
        (heard = error instanceof StoreUnavailable ? `sent: ${error.sent}` : 'another error'),
    )
  })
  await hand.until(hand.world.nowMs + 1_000)
  return heard
}

const get = (store: Store): Promise<unknown> => store.jobs.get({ id: 'a' })
const renew = (store: Store): Promise<unknown> => store.claims.renew({ worker: 'w1', tokens: [] })
const recover = (store: Store): Promise<unknown> => store.claims.recover({ token: 't', worker: 'w1' })

async function inserts(hand: HandWorld, id: string): Promise<string> {
  const called = await hand.act(() => insert(hand, hand.owner(), id))
  await hand.until(hand.world.nowMs + 100)
  return `${called.outcome}, ${(await isStored(hand, id)) ? 'stored' : 'not stored'}`
}

describe('a database that failed over to a standby', () => {
  test('answers reads, and tells whoever writes that nothing was done', async () => {
    const hand = await handWorld()
    await strike(hand, readOnly)
    expect([await told(hand, get), await told(hand, renew)]).toEqual(['answered', 'sent: no'])
    expect(await told(hand, recover)).toBe('sent: no')
    expect((await hand.world.database.raw.dump()).claims).toEqual([])
  })

  test('is an outage to the history, cuts what is open, and takes writes again when it is over', async () => {
    const hand = await handWorld()
    const open = await hand.act(() => insert(hand, hand.owner(), 'open'))
    for (let atMs = 1; !(await isStored(hand, 'open')); atMs++) await hand.until(atMs)
    await strike(hand, readOnly)
    await hand.until(5_100)
    expect(open.outcome).toBe('reset')
    expect(await inserts(hand, 'b')).toBe('ok, stored')
    const types = hand.story().flatMap((line) => ('step' in line ? [] : [line.type]))
    expect(types).toEqual(expect.arrayContaining(['fault.struck', 'database.down', 'database.up']))
  })
})

describe('a database whose disk is full', () => {
  test('refuses new rows and takes other writes, until there is room', async () => {
    const hand = await handWorld()
    await strike(hand, diskFull)
    expect([await told(hand, get), await told(hand, renew)]).toEqual(['answered', 'answered'])
    expect(await told(hand, recover)).toBe('sent: no')
    expect(await inserts(hand, 'a')).toBe('open, not stored')
    await hand.until(5_100)
    expect(await inserts(hand, 'b')).toBe('ok, stored')
  })
})

describe('a call that is rolled back', () => {
  test('took no effect, and says so; the next one is executed', async () => {
    const hand = await handWorld()
    await strike(hand, aborted)
    expect(await inserts(hand, 'a')).toBe('open, not stored')
    expect(hand.world.strikes.get('aborted')).toBe(1)
    expect(hand.world.database.errors.aborted.sent).toBe('no')
    expect(await inserts(hand, 'a')).toBe('ok, stored')
  })

  test('is sent again by the engine, and costs nobody anything', async () => {
    const hand = await handWorld()
    await strike(hand, { ...aborted, call: 'jobs.requestCancel' })
    await inserts(hand, 'a')
    await hand.act(() => void hand.owner().engine?.cancel('a'))
    await hand.until(hand.world.nowMs + 1_000)
    expect((await hand.world.database.raw.jobs.get({ id: 'a' }))?.state).toBe('cancelled')
    const steps = hand.story().flatMap((line) => ('step' in line ? [line] : []))
    const replies = steps.filter(({ step, label }) => step === 'reply' && label === 'jobs.requestCancel')
    expect(replies.map(({ outcome }) => outcome)).toEqual(['aborted', 'ok'])
  })
})

test('the scenario of refusals brings all of them about, and every promise holds', async () => {
  const { verdict, strikes } = await play({ scenario: failovers, seed: 3n })
  expect(verdict).toBe('pass')
  expect(Object.keys(strikes)).toEqual(expect.arrayContaining(['aborted', 'disk-full', 'read-only']))
})

test('a plan names when a refusal begins, and for how long it lasts', () => {
  const families = ['read-only', 'disk-full'].map((name) => familyNamed(name)).filter((f) => f !== undefined)
  const place = {
    nodes: ['w1'],
    producers: ['client'],
    forMs: 600_000,
    leaseTtlMs: 30_000,
    commits: false,
    schedules: false,
    deadLetters: false,
    restores: false,
    talks: false,
    services: [],
  }
  const plan = drawPlan(families, place, seededChooser(7n, false), false)
  expect(plan.length).toBeGreaterThanOrEqual(2)
  for (const { atMs, forMs = 0 } of plan) {
    expect(atMs).toBeLessThan(600_000)
    expect(forMs).toBeGreaterThanOrEqual(1_000)
    expect(forMs).toBeLessThanOrEqual(61_000)
  }
})
