import { afterEach, expect, test } from 'vitest'
import { createBarrier, runFromMacrotask } from '../../../src/sim/barrier.ts'
import { type LeakGuard, leakGuard } from '../../../src/sim/guard/guard.ts'
import { lineAt } from './leaks.ts'

const guard: LeakGuard = leakGuard()
afterEach(() => {
  guard.disarm()
  guard.virtualise(null)
  guard.takeLeak()
})

test('the guard that was preloaded from the build is the one that the source sees', () => {
  expect(guard.late).toBe(false)
  expect(leakGuard()).toBe(guard)
})

test('disarmed, nothing is a leak', () => {
  guard.arm()
  guard.disarm()
  Math.random()
  expect(guard.takeLeak()).toBeNull()
})

test('the oldest leak is kept until it is taken', () => {
  guard.arm()
  Math.random()
  Date.now()
  guard.disarm()
  expect(guard.takeLeak()?.what).toBe('Math.random')
  expect(guard.takeLeak()).toBeNull()
  guard.arm()
  Date.now()
  guard.disarm()
  expect(guard.takeLeak()?.what).toBe('Date.now')
})

test('a database that is hosted has its own time, and timers that never fire; the guard is then as before', async () => {
  const { setTimeout: real } = globalThis
  let fired = false
  for (const before of ['armed', 'disarmed']) {
    if (before === 'armed') guard.arm()
    const now = guard.host(1_234, () => {
      setTimeout(() => (fired = true), 0)
      Math.random()
      return [Date.now(), new Date().getTime(), performance.now()]
    })
    expect(now).toEqual([1_234, 1_234, 1_234])
    expect(() => guard.host(1, () => JSON.parse('{'))).toThrow(SyntaxError)
    expect(globalThis.setTimeout).toBe(real)
    expect(guard.takeLeak()).toBeNull()
    Date.now()
    guard.disarm()
    expect(guard.takeLeak()?.what).toBe(before === 'armed' ? 'Date.now' : undefined)
  }
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(fired).toBe(false)
})

test('what is exempt is no leak, and the guard is as armed as before, whatever happens inside', () => {
  guard.arm()
  expect(guard.exempt(() => Math.random())).toBeLessThan(1)
  const broken = (): void => guard.exempt(() => JSON.parse('{'))
  expect(broken).toThrow(SyntaxError)
  guard.exempt(() => {
    guard.disarm()
  })
  expect(guard.takeLeak()).toBeNull()
  Math.random()
  guard.disarm()
  expect(guard.takeLeak()?.what).toBe('Math.random')
  guard.exempt(() => {})
  Math.random()
  expect(guard.takeLeak()).toBeNull()
})

test('a stack whose formatting leaks does not leak again', () => {
  const formatter: unknown = Reflect.get(Error, 'prepareStackTrace')
  Error.prepareStackTrace = (error) => `${String(error)}${Math.random()}\n    at a (/app/a.js:1:2)`
  try {
    guard.arm()
    Date.now()
    guard.disarm()
  } finally {
    Reflect.set(Error, 'prepareStackTrace', formatter)
  }
  expect(guard.takeLeak()).toMatchObject({ what: 'Date.now', site: '/app/a.js:1:2' })
  Math.random()
  expect(guard.takeLeak()).toBeNull()
})

test('virtual answers are given only while armed', () => {
  guard.virtualise({ nowMs: () => 5, random: () => 0.5 })
  expect(Date.now()).toBeGreaterThan(5)
  guard.arm()
  const seen = [Date.now(), Math.random(), guard.exempt(() => Date.now() > 5)]
  guard.virtualise(null)
  const realMs = Date.now()
  guard.disarm()
  expect(seen).toEqual([5, 0.5, true])
  expect(realMs).toBeGreaterThan(5)
  expect(guard.takeLeak()?.what).toBe('Date.now')
})

test('a leak behind awaits and ticks is found while the barrier drains', async () => {
  const barrier = createBarrier()
  const handler = async (): Promise<number> => {
    for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => process.nextTick(resolve))
    return Math.random() // behind awaits
  }
  await runFromMacrotask(() => {
    guard.arm()
    void handler()
    barrier.drain()
    guard.disarm()
    return false
  })
  const leak = guard.takeLeak()
  expect(leak?.what).toBe('Math.random')
  expect(lineAt(leak?.site ?? '')).toContain('// behind awaits')
})

test('what is thrown and rejected during a drain is no leak of Node', async () => {
  const barrier = createBarrier()
  await runFromMacrotask(() => {
    guard.arm()
    process.nextTick(() => {
      throw new RangeError('thrown in a tick')
    })
    expect(() => barrier.drain()).toThrow(RangeError)
    guard.disarm()
    return false
  })
  expect(guard.takeLeak()).toBeNull()
})
