import { isDeepStrictEqual } from 'node:util'
// For every store call: its request lost, and its reply lost after it took effect. Whatever the caller then
// does by the policy (repeat, confirm, or its own remedy), both must end in the state of the undisturbed call.
import { describe, expect, it } from 'vitest'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'
import { type StoreCall, access, afterUnknown } from '../../src/stores/policy.ts'
import { resilient } from '../../src/stores/resilient.ts'
import { rawSqliteStore } from '../../src/stores/sqlite/index.ts'
import { unlease } from '../support/unlease.ts'
import { virtualClock } from '../support/virtual-clock.ts'
import { wire } from '../support/wire.ts'
import { rowsIn, rowsOf, stateOf } from './unknown-outcome/rows.ts'

const startMs = 1_767_225_600_000
let nowMs = startMs
let stock: InspectableStore

const rows = rowsOf({
  nowMs: () => nowMs,
  advance: async (ms) => void (nowMs += ms),
  unlease: (token) => unlease(stock, token),
})

interface Course {
  readonly state: unknown
  readonly told: unknown
  readonly sends: number
}

const stores = { memory: rawMemoryStore, sqlite: rawSqliteStore }

describe.each(Object.entries(stores))('on %s', (_name, open) => {
  const calls = Object.keys(rows) as StoreCall[]

  it('has a row for every call that the policy knows', () => {
    expect(calls.toSorted()).toEqual(Object.keys(afterUnknown).toSorted())
  })

  async function opened(): Promise<InspectableStore> {
    nowMs = startMs
    stock = open({ nowMs: () => nowMs })
    await stock.migrate()
    return stock
  }

  describe.each(calls)('%s', (call) => {
    const { before, call: send, remedy, rewrites = false, repeatAnswers } = rows[call]

    async function course(fate: 'lose-request' | 'lose-reply' | null): Promise<Course> {
      const raw = await opened()
      await before(raw)
      const clock = virtualClock()
      const connection = wire(raw, () => clock.nowMs)
      if (fate) connection.next(call, fate)
      const store = resilient(connection.store, { clock })
      const answer = send(store).then(
        (reply) => ({ answered: reply }),
        (error: unknown) => (error instanceof StoreUnavailable ? `unknown: ${error.sent}` : error),
      )
      await clock.advance(200)
      const told = await answer
      const sends = connection.sent(call).length
      if (fate && remedy) await remedy(raw)
      const state = await stateOf(raw, rewrites, nowMs)
      await raw.close()
      return { state, told, sends }
    }

    it('does to the store what the policy says: reads change nothing, and only inserts add rows', async () => {
      const raw = await opened()
      // A recovery adds a row where the claim that it is about never landed.
      await (call === 'claims.recover' ? rows['claims.claim'] : rows[call]).before(raw)
      const [was, wasCount] = [await raw.dump(), await rowsIn(raw)]
      await send(raw)
      const [is, isCount] = [await raw.dump(), await rowsIn(raw)]
      const kind = isCount > wasCount ? 'insert' : isDeepStrictEqual(is, was) ? 'read' : 'write'
      expect(kind).toBe(access[call])
      await raw.close()
    })

    it('ends alike when its request or its reply is lost (contract 8, E09)', async () => {
      const undisturbed = await course(null)
      expect(undisturbed).toMatchObject({ told: { answered: expect.anything() as unknown }, sends: 1 })
      // Sent again and answered the same, or sent once and told to the caller, who has a remedy.
      const expected = remedy ? { told: 'unknown: maybe', sends: 1 } : { told: undisturbed.told, sends: 2 }
      expect(await course('lose-request')).toEqual({ state: undisturbed.state, ...expected })
      const repeated =
        repeatAnswers === undefined ? expected : { ...expected, told: { answered: repeatAnswers } }
      expect(await course('lose-reply')).toEqual({ state: undisturbed.state, ...repeated })
    })
  })
})
