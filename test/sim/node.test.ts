import { describe, expect, test } from 'vitest'
import { createNodeClock, epochMs } from '../../src/sim/clock/node-clock.ts'
import { crash, pause, resume } from '../../src/sim/node.ts'
import { handWorld, insert, isStored } from './support.ts'

describe('a process that stands still', () => {
  test('gets its timers and replies when it goes on, in their order, none before', async () => {
    const hand = await handWorld()
    const owner = hand.owner()
    const clock = createNodeClock(hand.world, owner, 0)
    const heard: string[] = []
    await hand.act(() => {
      clock.timer(300, 'late', () => heard.push('late'))
      clock.timer(100, 'early', () => heard.push('early'))
      clock.timer(200, 'middle', () => heard.push('middle'))
      clock.timer(9_000, 'after', () => heard.push('after'))
    })
    const called = await hand.act(() => insert(hand, owner, 'a'))
    await hand.act(() => pause(hand.world, owner, 5_000))
    await hand.until(5_000)
    expect([heard, called.outcome, await isStored(hand, 'a')]).toEqual([[], 'open', true])
    await hand.act(() => resume(hand.world, owner))
    await hand.until(5_001)
    expect([heard, called.outcome]).toEqual([['early', 'middle', 'late'], 'ok'])
    await hand.until(9_000)
    expect(heard).toEqual(['early', 'middle', 'late', 'after'])
  })

  test('does not fire a timer that was cancelled while it stood still', async () => {
    const hand = await handWorld()
    const owner = hand.owner()
    const heard: string[] = []
    const clock = createNodeClock(hand.world, owner, 0)
    const timer = await hand.act(() => clock.timer(100, 'timer', () => heard.push('timer')))
    await hand.act(() => pause(hand.world, owner, 1_000))
    await hand.until(500)
    timer.cancel()
    await hand.act(() => resume(hand.world, owner))
    await hand.until(1_000)
    expect(heard).toEqual([])
  })

  test('may die, and does not go on then', async () => {
    const hand = await handWorld()
    const owner = hand.owner()
    const heard: string[] = []
    createNodeClock(hand.world, owner, 0).timer(100, 'timer', () => heard.push('timer'))
    await hand.act(() => pause(hand.world, owner, 1_000))
    await hand.until(500)
    await hand.act(() => crash(hand.world, owner))
    await hand.act(() => resume(hand.world, owner))
    await hand.until(2_000)
    expect(heard).toEqual([])
    expect(hand.story().some((line) => 'type' in line && line.type === 'node.resumed')).toBe(false)
  })
})

describe('a process that died', () => {
  test('is never recorded again, and its timers never fire', async () => {
    const hand = await handWorld()
    const owner = hand.owner()
    const heard: string[] = []
    const clock = createNodeClock(hand.world, owner, 0)
    clock.timer(100, 'timer', () => heard.push('timer'))
    await hand.act(() => crash(hand.world, owner))
    const before = [hand.story().length, hand.world.recorder.digest()]
    hand.world.recorder.happened(owner, { type: 'engine.started', worker: 'ghost' })
    clock.timer(10, 'finally', () => heard.push('finally'))
    await hand.until(1_000)
    expect([hand.story().length, hand.world.recorder.digest()]).toEqual(before)
    expect(heard).toEqual([])
  })

  test('is followed by the next incarnation under the same name', async () => {
    const hand = await handWorld()
    const first = hand.owner()
    await hand.act(() => crash(hand.world, first))
    expect(hand.node.process).toBeNull()
    await hand.act(() => hand.world.start(hand.node))
    expect(hand.owner()).not.toBe(first)
    expect([first.number, hand.owner().number]).toEqual([1, 2])
    expect(hand.owner().node.name).toBe('w1')
    await hand.act(() => hand.world.start(hand.node))
    expect(hand.node.incarnations).toBe(2)
    expect(hand.story().at(-1)).toMatchObject({ type: 'node.started', node: 'w1', incarnation: 2 })
  })
})

test('a skewed clock shows on the wall, and nowhere else', async () => {
  const hand = await handWorld()
  const clock = createNodeClock(hand.world, hand.owner(), 77)
  await hand.until(999)
  expect([clock.monotonicMs(), clock.wallMs()]).toEqual([1_077, epochMs + 1_000])
  hand.node.skewMs = -3_600_000
  expect([clock.monotonicMs(), clock.wallMs()]).toEqual([1_077, epochMs - 3_599_000])
  expect(await hand.world.database.raw.now()).toBe(epochMs + 1_000)
  const heard: number[] = []
  clock.timer(500, 'timer', () => heard.push(hand.world.nowMs))
  await hand.until(2_000)
  expect(heard).toEqual([1_500])
})

test('timers of parts of milliseconds and less than none fire at whole ones, in the order they were set', async () => {
  const hand = await handWorld()
  const clock = createNodeClock(hand.world, hand.owner(), 0)
  const heard: string[] = []
  for (const delayMs of [0.4, 1, -5, 0])
    clock.timer(delayMs, 'timer', () => heard.push(`${delayMs}@${hand.world.nowMs}`))
  await hand.until(5)
  expect(heard).toEqual(['-5@0', '0@0', '0.4@1', '1@1'])
})
