// For every call of the store: its request lost, and its reply lost after the server carried it out, on a real
// connection that breaks there. What the caller is told, and what the store then holds, is what the policy says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import type { Clock } from '../../src/engine/ports/clock.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { systemClock } from '../../src/engine/system.ts'
import type { OpenStore } from '../../src/stores/conformance/index.ts'
import { type StoreCall, afterUnknown } from '../../src/stores/policy.ts'
import { type MovedServer, asPooled, movedServer } from '../support/postgres/moved.ts'
import { type Proxy, createProxy } from '../support/postgres/proxy.ts'
import { rowsOf, stateOf } from './unknown-outcome/rows.ts'

/** Repeats at once: what is shown here is what is repeated, not when. */
const hasty: Clock = {
  ...systemClock,
  timer: (delayMs, label, fire) => systemClock.timer(label === 'call-retry' ? 0 : delayMs, label, fire),
}

let server: MovedServer
let proxy: Proxy
let opened: OpenStore
let nowMs: number
/** By way of the proxy, on direct connections and as behind a pooler. */
let direct: InspectableStore
let pooled: InspectableStore

beforeAll(async () => {
  server = await movedServer()
  proxy = await createProxy(server.url)
  direct = server.another({ connections: 1, clock: hasty }, proxy.url)
  pooled = server.another({ connections: 1, clock: hasty }, asPooled(proxy.url))
})

afterAll(async () => {
  await direct.close()
  await pooled.close()
  await proxy.close()
  await server.close()
})

const rows = rowsOf({
  nowMs: () => nowMs,
  advance: async (ms) => {
    await opened.time?.advance(ms)
    nowMs += ms
  },
  unlease: async (token) => opened.unlease?.(token),
})

interface Break {
  readonly fate: 'drop-request' | 'drop-reply'
  /** Of the statement that it strikes. */
  readonly text: string
  readonly breaks: 'reset' | 'end'
}

interface Course {
  readonly state: unknown
  readonly told: unknown
}

async function course(call: StoreCall, store: InspectableStore, fault: Break | null): Promise<Course> {
  const { before, call: send, remedy, rewrites = false } = rows[call]
  opened = await server.open()
  const raw = opened.store as InspectableStore
  nowMs = await raw.now()
  await before(raw)
  // The connections are there, and what they are is known.
  await store.jobs.get({ id: 'nobody' })
  await store.claims.renew({ worker: 'nobody', tokens: [] })
  if (fault) proxy.breaks = fault.breaks
  const struck = fault && proxy.next(fault.fate, fault.text)
  const told = await send(store).then(
    (reply) => ({ answered: reply }),
    (error: unknown) => (error instanceof StoreUnavailable ? `unknown: ${error.sent}` : error),
  )
  await struck
  if (fault && remedy) await remedy(raw)
  return { state: await stateOf(raw, rewrites, nowMs), told }
}

/** Of several statements, also on a connection of their own. */
const transactions: readonly StoreCall[] = [
  'commits.transact',
  'control.restored',
  'schedules.fire',
  'deadLetters.replay',
]

describe.each(Object.keys(afterUnknown) as StoreCall[])('%s', (call) => {
  test('ends as it would have undisturbed, when its request or its reply is lost (contract 8, E09)', async () => {
    const { remedy, repeatAnswers } = rows[call]
    const undisturbed = await course(call, direct, null)
    expect(undisturbed.told).toMatchObject({ answered: expect.anything() as unknown })
    const expected = remedy ? { ...undisturbed, told: 'unknown: maybe' } : undisturbed
    const repeated =
      repeatAnswers === undefined ? expected : { ...expected, told: { answered: repeatAnswers } }
    // Of a transaction all that comes before its commit is known to have done nothing.
    const text = transactions.includes(call) ? 'commit\0' : ''
    const lost = { fate: 'drop-request', text, breaks: 'reset' } as const
    expect(await course(call, direct, lost)).toEqual(expected)
    const unheard = { fate: 'drop-reply', text, breaks: 'end' } as const
    expect(await course(call, direct, unheard)).toEqual(repeated)
    const uncommitted = { fate: 'drop-request', text: 'commit\0', breaks: 'end' } as const
    expect(await course(call, pooled, uncommitted)).toEqual(expected)
    const committed = { fate: 'drop-reply', text: 'commit\0', breaks: 'reset' } as const
    expect(await course(call, pooled, committed)).toEqual(repeated)
  })
})
