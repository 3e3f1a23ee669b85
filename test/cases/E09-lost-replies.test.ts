import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { StoreCall } from '../../src/stores/policy.ts'
import type { OpenStore } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, stores } from './support.ts'

trapUnhandledRejections()

interface Trouble {
  readonly call: StoreCall
  readonly fate: 'lose-request' | 'lose-reply'
  /** How long nothing is answered after it, in ms. */
  readonly outageMs: number
}

/** One job from its enqueue to its end: it fails once, after its first heartbeat, and succeeds then. */
async function course(open: OpenStore, trouble: Trouble | null, fails: number) {
  const all = fleet(open)
  const starts: number[] = []
  const job = defineJob({
    name: 'job',
    retry: { backoff: { kind: 'constant', delayMs: 1_000 } },
    run: async ({ attempt, sleep }) => {
      starts.push(attempt.number)
      await sleep(12_000)
      if (attempt.failures < fails) throw new Error('not this time')
      return 'done'
    },
  })
  const a = all.process({ jobs: [job] })
  await a.engine.start()
  if (trouble) {
    const { call, fate, outageMs } = trouble
    a.wire.next(call, fate)
    const noticed = a.wire.calls.length
    const seen = (): boolean => a.wire.calls.slice(noticed).some((other) => other.call === call)
    void (async () => {
      while (!seen()) await new Promise<void>((resolve) => all.clock.timer(1, 'look', resolve))
      if (outageMs === 0) return
      a.wire.down('lose-request')
      all.clock.timer(outageMs, 'up', () => a.wire.up())
    })()
  }
  // A producer whose call failed asks again with the same id, as it is told to.
  const enqueue = async (): Promise<unknown> => {
    for (;;) {
      try {
        return await a.engine.enqueue(job, { n: 1 }, { id: 'x' })
      } catch {
        await new Promise<void>((resolve) => all.clock.timer(1_000, 'again', resolve))
      }
    }
  }
  const enqueued = enqueue()
  await all.clock.advance(180_000)
  const { jobs } = await all.database.raw.dump()
  const end = {
    rows: jobs.map(({ spec, state, attempt, failures, evictions, result }) => {
      return { id: spec.id, state, attempt, failures, evictions, result }
    }),
    starts,
    settled: a.of('attempt.confirmed').map(({ settled }) => settled),
  }
  const answer = await enqueued
  await all.stop()
  return { end, answer, unknown: a.of('claim.unknown').length }
}

const calls: readonly [string, StoreCall, number][] = [
  ['enqueue', 'jobs.insert', 0],
  ['claim', 'claims.claim', 0],
  ['heartbeat', 'claims.renew', 0],
  ['complete', 'jobs.settle', 0],
  ['fail', 'jobs.settle', 1],
]

describe.each(stores)('E09 on %s', (_name, open) => {
  describe.each(calls)('%s', (_what, call, fails) => {
    test.each([
      ['the request', 'lose-request', 0],
      ['the reply', 'lose-reply', 0],
      ['the request, and everything for 20 s', 'lose-request', 20_000],
      ['the reply, and everything for 20 s', 'lose-reply', 20_000],
    ] as const)('%s is lost: it ends as if nothing had been', async (_lost, fate, outageMs) => {
      const undisturbed = await course(open, null, fails)
      const { end, answer, unknown } = await course(open, { call, fate, outageMs }, fails)
      expect(undisturbed.end).toMatchObject({
        rows: [{ id: 'x', state: 'succeeded', attempt: fails + 1, failures: fails, evictions: 0 }],
        starts: Array.from({ length: fails + 1 }, (_, n) => n + 1),
        settled: Array.from({ length: fails + 1 }, () => 'applied'),
      })
      expect(end).toEqual(undisturbed.end)
      // A producer that gave up on a call in which it was stored finds its job there; else it made it.
      const found = call === 'jobs.insert' && fate === 'lose-reply' && outageMs > 0
      expect(answer).toEqual({ id: 'x', created: !found })
      // Only a claim has to be recovered; an outage makes others unknown on the way.
      expect(outageMs === 0 ? unknown : 0).toBe(call === 'claims.claim' && outageMs === 0 ? 1 : 0)
    })
  })

  test('an id that is enqueued by two at once is one job, and one of them is told that it made it', async () => {
    const all = fleet(open)
    const job = defineJob<unknown>({ name: 'job' })
    const [a, b] = [all.process(), all.process()]
    a.wire.next('jobs.insert', 'lose-reply')
    const both = Promise.all([a, b].map(({ engine }) => engine.enqueue(job, 1, { id: 'x' })))
    await all.clock.advance(1_000)
    expect((await both).filter(({ created }) => created)).toHaveLength(1)
    expect((await all.database.raw.dump()).jobs).toHaveLength(1)
    await all.stop()
  })
})
