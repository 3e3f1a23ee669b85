// Hints of a store that something is due: they wake the fetch loop, their way shows in health, and nothing else hangs
// on them (contract 0.22).
import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import type { EngineEvent } from '../../src/engine/history.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { HintListener, Store } from '../../src/engine/ports/store.ts'
import { bench, stopNow } from '../support/bench.ts'

const job = defineJob({ name: 'job', run: async () => {} })

interface Hinting {
  readonly store: (store: Store) => Store
  readonly listeners: HintListener[]
  readonly closed: number
}

function hinting(): Hinting {
  const listeners: HintListener[] = []
  let closed = 0
  const listen = (listener: HintListener) => {
    listeners.push(listener)
    return { close: async () => void (closed += 1) }
  }
  return {
    store: (store) => ({ ...store, hints: { listen } }),
    listeners,
    get closed() {
      return closed
    },
  }
}

/** A worker on a store that gives hints, idle for long. */
async function idle() {
  const hints = hinting()
  const base = bench()
  const events: EngineEvent[] = []
  const engine = createEngine({
    name: 'w',
    jobs: [job],
    queues: { default: { concurrency: 1 } },
    clock: base.clock,
    observer: { event: (event) => void events.push(event) },
    store: hints.store(base.wire.store),
  })
  await engine.start()
  await base.clock.advance(120_000)
  const [listener] = hints.listeners as [HintListener]
  const claims = (): number => base.wire.sent('claims.claim').length
  return { ...base, engine, hints, listener, claims, events }
}

test('a hint for a queue of the engine is a poll at once, and one for another is none', async () => {
  const it = await idle()
  const before = it.claims()
  it.listener.onHint(['another'])
  await it.clock.advance(0)
  expect(it.claims()).toBe(before)
  it.listener.onHint(['another', 'default'])
  await it.clock.advance(0)
  expect(it.claims()).toBe(before + 1)
  it.listener.onHint(null)
  await it.clock.advance(0)
  expect(it.claims()).toBe(before + 2)
  await stopNow(it)
})

test('a hint between an empty claim and the wait after it is not lost (E27)', async () => {
  const it = await idle()
  it.wire.next('claims.claim', 'hang-reply')
  it.listener.onHint(null)
  await it.clock.advance(0)
  const before = it.claims()
  it.listener.onHint(null)
  it.wire.letGo()
  await it.clock.advance(0)
  expect(it.claims()).toBe(before + 1)
  await stopNow(it)
})

test('health and an event say whether hints arrive, and since when', async () => {
  const it = await idle()
  const wakeups = () => it.engine.health().running?.wakeups
  expect(wakeups()).toEqual({ state: 'down', forMs: 120_000, why: 'not connected yet' })
  expect(it.engine.health().status).toBe('degraded')
  it.listener.onState(true, null)
  await it.clock.advance(1_000)
  expect(wakeups()).toEqual({ state: 'up', forMs: 1_000, why: null })
  expect(it.engine.health().status).toBe('ok')
  for (const why of ['cut', 'refused']) it.listener.onState(false, why)
  expect(wakeups()).toEqual({ state: 'down', forMs: 0, why: 'refused' })
  expect(it.engine.health().status).toBe('degraded')
  expect(it.events.filter(({ type }) => type === 'wakeups.changed')).toEqual([
    { type: 'wakeups.changed', up: true, why: null },
    { type: 'wakeups.changed', up: false, why: 'cut' },
  ])
  expect(it.hints.closed).toBe(0)
  await stopNow(it)
  expect(it.hints.closed).toBe(1)
})

test('off: a store without hints, and an engine without queues, which does not listen', async () => {
  const plain = bench({ jobs: [job], queues: { default: { concurrency: 1 } } })
  await plain.engine.start()
  expect(plain.engine.health()).toMatchObject({
    status: 'ok',
    running: { wakeups: { state: 'off', forMs: null, why: null } },
  })
  await stopNow(plain)
  const hints = hinting()
  const base = bench()
  const engine = createEngine({ clock: base.clock, store: hints.store(base.wire.store) })
  await engine.start()
  expect(engine.health()).toMatchObject({ status: 'ok', running: { wakeups: { state: 'off' } } })
  expect(hints.listeners).toEqual([])
  await stopNow({ ...base, engine })
})

test('a burst of hints is one poll; of those that come while it is under way, one more', async () => {
  const it = await idle()
  const before = it.claims()
  for (let n = 0; n < 100; n++) it.listener.onHint(n % 2 === 0 ? null : ['default'])
  await it.clock.advance(0)
  expect(it.claims()).toBe(before + 1)
  it.wire.next('claims.claim', 'hang-reply')
  it.listener.onHint(null)
  await it.clock.advance(0)
  for (let n = 0; n < 100; n++) it.listener.onHint(null)
  await it.clock.advance(0)
  expect(it.claims()).toBe(before + 2)
  it.wire.letGo()
  await it.clock.advance(0)
  expect(it.claims()).toBe(before + 3)
  await stopNow(it)
})
