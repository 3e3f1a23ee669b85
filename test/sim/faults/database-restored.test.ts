import { describe, expect, test } from 'vitest'
import type { HistoryEvent } from '../../../src/engine/history.ts'
import { seededChooser } from '../../../src/sim/chooser.ts'
import { type Fault, drawPlan } from '../../../src/sim/faults/fault.ts'
import { familyNamed } from '../../../src/sim/faults/index.ts'
import { placeOf } from '../../../src/sim/run.ts'
import { restoredBackup } from '../../../src/sim/scenarios/restored-backup.ts'
import { type HandWorld, handWorld, insert, isStored, jobsOf, play, scenario } from '../support.ts'

const fault: Fault = {
  id: 'database-restored #1',
  family: 'database-restored',
  atMs: 0,
  node: 'w1',
  lossMs: 1_000,
  drainMs: 0,
  forMs: 2_000,
  lookMs: 3_000,
  how: 'reset',
}

async function restored(hand: HandWorld): Promise<void> {
  await hand.act(() => insert(hand, hand.owner(), 'kept'))
  await hand.until(100)
  await hand.act(() => familyNamed(fault.family)?.strike(hand.world, fault))
  await hand.until(200)
  await hand.act(() => insert(hand, hand.owner(), 'lost'))
  await hand.until(300)
}

function typesOf(hand: HandWorld): string[] {
  return hand.story().flatMap((line) => ('step' in line ? [] : [line.type]))
}

describe('a database that is restored from a backup', () => {
  test('has what it had then, under hold, while its clock goes on; then the operator says so', async () => {
    const hand = await handWorld()
    await restored(hand)
    const { raw } = hand.world.database
    expect([await isStored(hand, 'kept'), await isStored(hand, 'lost')]).toEqual([true, true])
    const beforeMs = await raw.now()
    await hand.until(4_000)
    expect([await isStored(hand, 'kept'), await isStored(hand, 'lost')]).toEqual([true, false])
    expect((await raw.control.get()).hold).toBe(true)
    expect(await raw.now()).toBe(beforeMs + 3_700)
    expect((await raw.dump()).timeline).toBe(0)
    await hand.until(8_000)
    expect((await raw.control.get()).hold).toBe(false)
    expect((await raw.dump()).timeline).toBeGreaterThan(1_700_000_000)
    const types = typesOf(hand).filter((type) => /^(database|timeline|control)/.test(type))
    expect(types).toEqual([
      'database.backedUp',
      'database.down',
      'database.restored',
      'control.changed',
      'database.up',
      'timeline.began',
      'control.changed',
    ])
  })

  test('answers nobody who had asked before, however late he comes', async () => {
    const hand = await handWorld()
    hand.node.armed.push({
      id: 'late',
      family: 'late-request',
      atMs: 0,
      call: 'jobs.insert',
      how: 'silent',
      lateMs: 9_000,
    })
    await hand.act(() => insert(hand, hand.owner(), 'late'))
    await restored(hand)
    await hand.until(12_000)
    expect([await isStored(hand, 'kept'), await isStored(hand, 'late')]).toEqual([true, false])
  })

  test('is restored once in a run, and not at all once the faults are over', async () => {
    const hand = await handWorld()
    await restored(hand)
    await hand.act(() => familyNamed(fault.family)?.strike(hand.world, fault))
    hand.world.operator.over = true
    await hand.until(8_000)
    expect(typesOf(hand).filter((type) => type.startsWith('database'))).toEqual(['database.backedUp'])
  })
})

test('by the book: engines are stopped, but for one that sleeps, and start again under hold', async () => {
  const work = jobsOf(4, ({ sleep }) => sleep(20_000))
  const { story, verdict } = await play({
    scenario: scenario({ ...work, activeMs: 200_000 }),
    plan: [{ ...fault, atMs: 5_000, lossMs: 10_000, sleptMs: 1_000, sleepMs: 40_000 }],
    keepStory: true,
  })
  expect(verdict).toBe('pass')
  const events = (story ?? []).filter((line): line is HistoryEvent => 'type' in line)
  const at = (type: string, node: string): number =>
    events.find((event) => event.type === type && event.node === node)?.atMs ?? Number.NaN
  const [asleep, other] = events.some(({ type, node }) => type === 'node.paused' && node === 'w1')
    ? ['w1', 'w2']
    : ['w2', 'w1']
  expect(at('node.paused', asleep)).toBe(14_000)
  expect(at('engine.stopped', asleep)).toBeNaN()
  expect(at('engine.stopped', other)).toBeLessThanOrEqual(at('database.down', 'env'))
  expect(at('database.restored', 'env')).toBe(at('database.down', 'env'))
  expect(at('timeline.began', 'client')).toBeLessThan(at('node.resumed', asleep))
})

test('a plan leaves time for it to be over before the faults are, and calls of it get lost', () => {
  const families = restoredBackup.families.flatMap((name) => familyNamed(name) ?? [])
  const place = placeOf(restoredBackup)
  const calls = new Set<string>()
  for (let seed = 0n; seed < 40n; seed++) {
    const plan = drawPlan(families, place, seededChooser(seed, false), false)
    const own = plan.filter(({ family }) => family === 'database-restored')
    expect(own).toHaveLength(1)
    for (const { atMs, lossMs = 0, drainMs = 0, forMs = 0, lookMs = 0 } of own) {
      expect(atMs + lossMs + drainMs + 10_000 + forMs + lookMs).toBeLessThan(place.forMs)
    }
    for (const { family, call } of plan) if (call === 'control.restored') calls.add(family)
  }
  expect([...calls].sort()).toEqual(['late-request', 'lost-reply', 'lost-request'])
})
