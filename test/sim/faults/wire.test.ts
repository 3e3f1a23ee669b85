import { describe, expect, test } from 'vitest'
import type { Fault } from '../../../src/sim/faults/fault.ts'
import { crash } from '../../../src/sim/node.ts'
import { type HandWorld, handWorld, insert, isStored } from '../support.ts'

const lost = (family: 'lost-request' | 'lost-reply', how: 'reset' | 'silent'): Fault => ({
  id: `${family} #1`,
  family,
  atMs: 0,
  node: 'w1',
  call: 'jobs.insert',
  how,
})

const outage = (over: Partial<Fault>): Fault => ({
  id: 'outage-short #1',
  family: 'outage-short',
  atMs: 0,
  forMs: 5_000,
  ...over,
})

/** One insert under a fault that waits for it: what the caller heard, and what the store has. */
async function insertUnder(fault: Fault): Promise<{ heard: string; stored: boolean; struck: number }> {
  const hand = await handWorld()
  hand.node.armed.push(fault)
  const called = await hand.act(() => insert(hand, hand.owner(), 'a'))
  await hand.until(10_000)
  const struck = hand.world.strikes.get(fault.family) ?? 0
  return { heard: called.outcome, stored: await isStored(hand, 'a'), struck }
}

describe('a message', () => {
  test('arrives, takes effect at the time of the database, and is answered later', async () => {
    const hand = await handWorld()
    const called = await hand.act(() => insert(hand, hand.owner(), 'a'))
    expect([called.outcome, await isStored(hand, 'a')]).toEqual(['open', false])
    await hand.until(50)
    expect([called.outcome, await isStored(hand, 'a')]).toEqual(['ok', true])
    const steps = hand.story().flatMap((line) => ('step' in line ? [line] : []))
    expect(steps.map(({ step }) => step)).toEqual(['request', 'execution', 'reply'])
    const [sentMs = 0, executedMs = 0, repliedMs = 0] = steps.map(({ atMs }) => atMs)
    expect(executedMs).toBeGreaterThan(sentMs)
    expect(repliedMs).toBeGreaterThan(executedMs)
    const stored = await hand.world.database.raw.jobs.get({ id: 'a' })
    expect(stored?.createdAtMs).toBe(1_767_225_600_000 + executedMs)
  })

  test.each([
    ['reset', 'reset'],
    ['silent', 'open'],
  ] as const)('whose request is lost (%s) took no effect', async (how, heard) => {
    expect(await insertUnder(lost('lost-request', how))).toEqual({ heard, stored: false, struck: 1 })
  })

  test.each([
    ['reset', 'reset'],
    ['silent', 'open'],
  ] as const)('whose reply is lost (%s) took effect', async (how, heard) => {
    expect(await insertUnder(lost('lost-reply', how))).toEqual({ heard, stored: true, struck: 1 })
  })

  test('of another call is left alone, and the fault waits on', async () => {
    const other = { ...lost('lost-request', 'reset'), call: 'claims.renew' as const }
    expect(await insertUnder(other)).toEqual({ heard: 'ok', stored: true, struck: 0 })
  })

  test('is lost once: the next one arrives', async () => {
    const hand = await handWorld()
    hand.node.armed.push(lost('lost-request', 'reset'))
    const first = await hand.act(() => insert(hand, hand.owner(), 'a'))
    const second = await hand.act(() => insert(hand, hand.owner(), 'a'))
    await hand.until(1_000)
    expect([first.outcome, second.outcome]).toEqual(['reset', 'ok'])
  })
})

describe('a database that is away', () => {
  test('refuses what is sent, which certainly took no effect', async () => {
    const hand = await handWorld()
    await hand.act(() => hand.world.database.goDown(outage({ how: 'reset' })))
    const called = await hand.act(() => insert(hand, hand.owner(), 'a'))
    await hand.until(1_000)
    expect([called.outcome, await isStored(hand, 'a')]).toEqual(['refused', false])
    expect(hand.world.database.errors.refused.sent).toBe('no')
    expect(hand.world.database.errors.reset.sent).toBe('maybe')
  })

  test('swallows what is sent when it is silent', async () => {
    const hand = await handWorld()
    await hand.act(() => hand.world.database.goDown(outage({ how: 'silent' })))
    const called = await hand.act(() => insert(hand, hand.owner(), 'a'))
    await hand.until(60_000)
    expect([called.outcome, await isStored(hand, 'a')]).toEqual(['open', false])
  })

  test.each([
    [true, true],
    [false, false],
  ])('cuts work in flight, which lands (%s) or does not', async (lands, stored) => {
    const hand = await handWorld()
    const called = await hand.act(() => insert(hand, hand.owner(), 'a'))
    await hand.act(() => hand.world.database.goDown(outage({ how: 'reset', lands })))
    expect(await isStored(hand, 'a')).toBe(stored)
    await hand.until(1_000)
    expect([called.outcome, await isStored(hand, 'a')]).toEqual(['reset', stored])
  })

  test('cuts what was executed but is not answered yet', async () => {
    const hand = await handWorld()
    const called = await hand.act(() => insert(hand, hand.owner(), 'a'))
    for (let atMs = 1; !(await isStored(hand, 'a')); atMs++) await hand.until(atMs)
    expect(called.outcome).toBe('open')
    await hand.act(() => hand.world.database.goDown(outage({ how: 'reset' })))
    await hand.until(1_000)
    expect(called.outcome).toBe('reset')
  })

  test('comes back after its time, once', async () => {
    const hand = await handWorld()
    await hand.act(() => hand.world.database.goDown(outage({ how: 'reset' })))
    await hand.act(() => hand.world.database.goDown(outage({ id: 'second', forMs: 60_000 })))
    expect(hand.world.strikes.get('outage-short')).toBe(1)
    await hand.until(5_000)
    expect(hand.world.database.down).toBeNull()
    expect(await answerOf(hand)).toBe('ok')
    expect(typesOf(hand)).toEqual(expect.arrayContaining(['database.down', 'database.up']))
  })

  test('healed early and down again, stays down for its second time', async () => {
    const hand = await handWorld()
    await hand.act(() => hand.world.database.goDown(outage({ how: 'reset' })))
    await hand.act(() => hand.world.database.comeUp())
    await hand.until(3_000)
    await hand.act(() => hand.world.database.goDown(outage({ id: 'second', how: 'reset' })))
    await hand.until(6_000)
    expect(await answerOf(hand)).toBe('refused')
  })
})

describe('a dead process', () => {
  test('has its requests in flight executed, and nobody hears the reply', async () => {
    const hand = await handWorld()
    const owner = hand.owner()
    const called = await hand.act(() => insert(hand, owner, 'a'))
    await hand.act(() => crash(hand.world, owner))
    await hand.until(1_000)
    expect([called.outcome, await isStored(hand, 'a')]).toEqual(['open', true])
    const afterwards = hand.story().slice(hand.story().findIndex((line) => isCrash(line)) + 1)
    expect(afterwards.map((line) => ('step' in line ? line.step : line.type))).toEqual([
      'execution',
      'job.inserted',
    ])
  })

  test('sends nothing any more', async () => {
    const hand = await handWorld()
    const owner = hand.owner()
    await hand.act(() => crash(hand.world, owner))
    const before = hand.story().length
    const called = await hand.act(() => insert(hand, owner, 'a'))
    await hand.until(1_000)
    expect([called.outcome, await isStored(hand, 'a'), hand.story().length]).toEqual(['open', false, before])
  })
})

async function answerOf(hand: HandWorld): Promise<string> {
  const called = await hand.act(() => insert(hand, hand.owner(), 'late'))
  await hand.until(hand.world.nowMs + 100)
  return called.outcome
}

function typesOf(hand: HandWorld): string[] {
  return hand.story().map((line) => ('step' in line ? line.step : line.type))
}

function isCrash(line: ReturnType<HandWorld['story']>[number]): boolean {
  return !('step' in line) && line.type === 'node.crashed'
}
