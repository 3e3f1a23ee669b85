import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import { JobCancelled } from '../../src/engine/errors.ts'
import type { JobRecord } from '../../src/engine/jobs/record.ts'
import { isTerminal } from '../../src/engine/jobs/record.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { Outcome } from '../../src/engine/jobs/record.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { type Fleet, claimed, fleet, gated, stores } from './support.ts'

trapUnhandledRejections()

const steps = ['cancel', 'claim', 'complete', 'fail', 'reclaim'] as const
type Step = (typeof steps)[number]
const outcomes: Readonly<Record<'complete' | 'fail', Outcome>> = {
  complete: { kind: 'succeeded', result: '1' },
  fail: { kind: 'failed', error: { code: 'E', message: 'again' }, permanent: false, delayMs: 0 },
}

function orders<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item) =>
    orders(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  )
}

/** Takes back what a dead worker holds: time passes, watched, until its lease is over. */
async function reclaim({ database: { raw, nowMs, jump } }: Fleet): Promise<void> {
  for (let k = 0; k < 8; k++) {
    await raw.watch.move({ lastReplyMs: nowMs(), sinceReplyMs: 0, maxAgeMs: 5_000 })
    jump(5_000)
  }
  await raw.watch.move({ lastReplyMs: nowMs(), sinceReplyMs: 0, maxAgeMs: 5_000 })
  await raw.jobs.reclaim({ limit: 10 })
}

/** Does one step, and holds the answer against what is stored. */
async function take(all: Fleet, step: Step, claims: number): Promise<void> {
  const { raw, job } = all.database
  if (step === 'claim') {
    await claimed(raw, { token: `claim ${claims}` })
  } else if (step === 'reclaim') {
    await reclaim(all)
  } else if (step === 'cancel') {
    const reply = await raw.jobs.requestCancel({ id: 'x' })
    const { state, cancelRequestedAtMs } = await job('x')
    const asked = cancelRequestedAtMs !== null
    if (reply.kind === 'requested') assert.deepEqual([state, asked], ['running', true])
    else if (reply.kind === 'cancelled') assert.equal(state, 'cancelled')
    else assert.deepEqual(reply, { kind: 'ended', state })
  } else {
    // By the holder of the only claim, in whose eyes it is still at epoch 1.
    const settlement = { id: 'x', epoch: 1, outcome: outcomes[step], repeated: false }
    const { results } = await raw.jobs.settle({ worker: 'w', settlements: [settlement] })
    assert.equal(results[0]?.state, (await job('x')).state)
  }
}

/** Once ended, the same for good; once its end was asked for, never back in the queue. */
function requireLawful(before: JobRecord, after: JobRecord): void {
  if (isTerminal(before.state)) assert.deepEqual(after, before)
  if (before.cancelRequestedAtMs !== null) assert.notEqual(after.state, 'queued')
}

describe.each(stores)('E23 on %s: a cancel races', (_name, open) => {
  test.each(orders(steps).map((order) => [order.join(', '), order] as const))('%s', async (_order, order) => {
    const all = fleet(open)
    const { raw, job } = all.database
    await raw.watch.declare({ sweepMs: 5_000 })
    const retry = { backoff: { kind: 'constant', delayMs: 0 } } as const
    await all.process().engine.enqueue(defineJob({ name: 'job', retry }), null, { id: 'x' })
    let claims = 0
    const accepted: string[] = []
    for (const step of order) {
      const before = await job('x')
      await take(all, step, ++claims)
      const after = await job('x')
      requireLawful(before, after)
      if (step === 'cancel' && after.cancelRequestedAtMs !== null) accepted.push('cancel')
    }
    // Whoever comes now, finds it only if nobody asked for its end.
    const last = await job('x')
    const found = await claimed(raw, { token: 'last' })
    expect(found).toEqual(last.state === 'queued' ? ['x'] : [])
    // Its holder, if there is one, says how it ends; after a cancel a failure is no retry.
    const { state, epoch } = await job('x')
    if (state === 'running') {
      const settlement = { id: 'x', epoch, outcome: outcomes.fail, repeated: false }
      await raw.jobs.settle({ worker: 'w', settlements: [settlement] })
    }
    const end = await job('x')
    expect(isTerminal(end.state)).toBe(end.state !== 'queued')
    expect(end.state === 'queued' && accepted.length > 0).toBe(false)
  })

  test('between the claim and the first heartbeat is told by that heartbeat, and nothing is tried again', async () => {
    const all = fleet(open)
    const reasons: unknown[] = []
    const starts: number[] = []
    const job = defineJob({
      name: 'job',
      run: async ({ attempt, signal, sleep }) => {
        starts.push(attempt.number)
        await sleep(60_000).catch(() => reasons.push(signal.reason))
        throw signal.reason
      },
    })
    const a = all.process({ jobs: [job] })
    await a.engine.start()
    a.wire.next('claims.claim', 'hang-reply')
    await a.engine.enqueue(job, null, { id: 'x' })
    await all.clock.settle()
    // Claimed, and its worker does not know of it yet.
    expect((await all.database.job('x')).state).toBe('running')
    expect(await a.engine.cancel('x')).toBe('requested')
    a.wire.letGo()
    await all.clock.advance(9_999)
    expect([starts, reasons]).toEqual([[1], []])
    await all.clock.advance(1)
    expect(reasons).toEqual([expect.any(JobCancelled)])
    await all.clock.advance(120_000)
    expect(starts).toEqual([1])
    expect(await all.database.job('x')).toMatchObject({ state: 'cancelled', attempt: 1, failures: 0 })
    expect(await a.engine.cancel('x')).toBe('cancelled')
    await all.stop()
  })

  test('just before it finishes is not lost: the answer says what became of it, and nothing restarts', async () => {
    const all = fleet(open)
    const work = gated()
    const a = all.process({ jobs: [work.job] })
    await a.engine.start()
    await a.engine.enqueue(work.job, null, { id: 'x' })
    await all.clock.settle()
    const cancelled = a.engine.cancel('x')
    work.gates[0]?.open('finished')
    await all.clock.advance(60_000)
    expect(await cancelled).toBe('requested')
    expect(await all.database.job('x')).toMatchObject({ state: 'succeeded', result: '"finished"' })
    expect(await a.engine.cancel('x')).toBe('succeeded')
    expect(work.starts).toHaveLength(1)
    await all.stop()
  })
})
