import { afterEach, expect, test, vi } from 'vitest'
import { BarrierMisused, BarrierUnavailable, createBarrier, runFromMacrotask } from '../../src/sim/barrier.ts'

const barrier = createBarrier()
const ticks = Reflect.get(process, '_tickCallback') as unknown
afterEach(() => {
  Reflect.set(process, '_tickCallback', ticks)
})

/** Runs `body` in a macrotask of its own. */
async function inMacrotask<T>(body: () => T): Promise<T> {
  const results: T[] = []
  await runFromMacrotask(() => {
    results.push(body())
    return false
  })
  return results[0] as T
}

/** Runs `body` while nobody else, the test runner least of all, hears of `event`. */
async function hearing(
  event: 'unhandledRejection' | 'uncaughtException',
  body: () => void,
): Promise<unknown[]> {
  const others = process.listeners(event as 'uncaughtException')
  const heard: unknown[] = []
  process.removeAllListeners(event)
  process.on(event, (reason: unknown) => void heard.push(reason))
  try {
    await inMacrotask(body)
  } finally {
    process.removeAllListeners(event)
    for (const other of others) process.on(event as 'uncaughtException', other)
  }
  return heard
}

test('one drain ends 1,000 awaits', async () => {
  let awaited = 0
  const chain = async (): Promise<void> => {
    for (; awaited < 1000; awaited++) await Promise.resolve()
  }
  await inMacrotask(() => {
    void chain()
    expect(awaited).toBe(0)
    barrier.drain()
    expect(awaited).toBe(1000)
  })
})

test('one drain ends 50 alternations of nextTick and await', async () => {
  let ticked = 0
  const chain = async (): Promise<void> => {
    for (; ticked < 50; ticked++) {
      await new Promise<void>((resolve) => process.nextTick(resolve))
      await Promise.resolve()
    }
  }
  await inMacrotask(() => {
    void chain()
    barrier.drain()
    expect(ticked).toBe(50)
  })
})

test('a drain runs queueMicrotask, and no timer or immediate', async () => {
  const ran: string[] = []
  await inMacrotask(() => {
    setTimeout(() => ran.push('timer'), 0)
    setImmediate(() => ran.push('immediate'))
    queueMicrotask(() => ran.push('microtask'))
    barrier.drain()
    expect(ran).toEqual(['microtask'])
  })
  await vi.waitFor(() => expect(ran).toHaveLength(3))
})

test('a macrotask may drain again and again', async () => {
  await inMacrotask(() => {
    for (let i = 0; i < 1000; i++) {
      let done = false
      void Promise.resolve().then(() => (done = true))
      barrier.drain()
      expect(done).toBe(true)
    }
  })
})

test('a drain within a tick of a drain drains', async () => {
  await inMacrotask(() => {
    const order: string[] = []
    process.nextTick(() => {
      void Promise.resolve().then(() => order.push('inner'))
      barrier.drain()
      order.push('after inner drain')
    })
    process.nextTick(() => order.push('next tick'))
    barrier.drain()
    order.push('after outer drain')
    expect(order).toEqual(['next tick', 'inner', 'after inner drain', 'after outer drain'])
  })
})

test('a drain asked of a microtask, where V8 would do nothing, is refused, and the outer one ends', async () => {
  await Promise.resolve()
  expect(() => barrier.drain()).toThrow(BarrierMisused)
  await inMacrotask(() => {
    const seen: unknown[] = []
    const nested = async (): Promise<void> => {
      await Promise.resolve()
      expect(() => barrier.drain()).toThrow(expect.objectContaining({ code: 'BARRIER_MISUSED' }))
      await Promise.resolve()
      seen.push('end')
    }
    void nested()
    barrier.drain()
    expect(seen).toEqual(['end'])
  })
})

test('a rejection that nobody handles becomes the event before the drain ends', async () => {
  const reason = new RangeError('nobody handles it')
  let heardInside = 0
  const heard = await hearing('unhandledRejection', () => {
    process.once('unhandledRejection', () => heardInside++)
    void (async () => {
      await Promise.resolve()
      throw reason
    })()
    barrier.drain()
    expect(heardInside).toBe(1)
  })
  expect(heard).toEqual([reason])
})

test('what queueMicrotask throws becomes the uncaughtException event', async () => {
  const thrown = new RangeError('thrown in a microtask')
  const heard = await hearing('uncaughtException', () => {
    queueMicrotask(() => {
      throw thrown
    })
    barrier.drain()
  })
  expect(heard).toEqual([thrown])
})

test('what a tick throws is thrown by the drain, after the rest has run, and the process lives on', async () => {
  const ran: number[] = []
  const heard = await hearing('uncaughtException', () => {
    for (const n of [1, 2, 3]) {
      process.nextTick(() => {
        void Promise.resolve().then(() => ran.push(n))
        throw new RangeError(`thrown in tick ${n}`)
      })
    }
    expect(() => barrier.drain()).toThrow('thrown in tick 1')
    expect(ran).toEqual([1, 2, 3])
    barrier.drain()
  })
  expect(heard).toEqual([])
  expect(process.hasUncaughtExceptionCaptureCallback()).toBe(false)
})

test('without _tickCallback there is no barrier, and the error says so', () => {
  Reflect.set(process, '_tickCallback', undefined)
  expect(createBarrier).toThrow(BarrierUnavailable)
  expect(createBarrier).toThrow(/no process\._tickCallback/)
  expect(createBarrier).toThrow(expect.objectContaining({ code: 'BARRIER_UNAVAILABLE' }))
})

test('runFromMacrotask calls again until told to stop, with a turn of the real loop before each call', async () => {
  let loops = 0
  let turns = 0
  let running = true
  const count = (): void => {
    loops++
    if (running) setImmediate(count)
  }
  setImmediate(count)
  await runFromMacrotask(() => {
    expect(loops).toBeGreaterThanOrEqual(turns)
    return ++turns < 5
  })
  running = false
  expect(turns).toBe(5)
})

test('runFromMacrotask rejects with what a turn throws, and stops', async () => {
  let turns = 0
  const failing = runFromMacrotask(() => {
    turns++
    throw new RangeError('turn 1')
  })
  await expect(failing).rejects.toThrow('turn 1')
  await inMacrotask(() => {})
  expect(turns).toBe(1)
})

test('runFromMacrotask goes on under fake timers', async () => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout', 'Date', 'performance'] })
  try {
    await expect(inMacrotask(() => 'ran')).resolves.toBe('ran')
  } finally {
    vi.useRealTimers()
  }
})
