import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { type Fleet, fleet, stores } from './support.ts'

trapUnhandledRejections()

const pollMsMax = 30_000

/** A worker, and a producer in another process, of which the worker hears nothing. */
async function apart(all: Fleet) {
  const starts = new Map<string, number>()
  const job = defineJob({ name: 'job', run: ({ job: { id } }) => void starts.set(id, all.clock.nowMs) })
  const worker = all.process({ jobs: [job] })
  const producer = all.process()
  await worker.engine.start()
  const enqueue = (id: string): Promise<unknown> => producer.engine.enqueue(job, null, { id })
  return { worker, enqueue, starts, own: (id: string) => worker.engine.enqueue(job, null, { id }) }
}

describe.each(stores)('E27 on %s: polling alone carries correctness', (_name, open) => {
  test('a job of another process starts within one poll, whenever it comes', async () => {
    const all = fleet(open)
    const { enqueue, starts } = await apart(all)
    for (let n = 0; n < 40; n++) {
      await all.clock.advance(61_000 + n * 777)
      const atMs = all.clock.nowMs
      await enqueue(`j${n}`)
      await all.clock.advance(pollMsMax)
      expect((starts.get(`j${n}`) ?? Number.POSITIVE_INFINITY) - atMs).toBeLessThanOrEqual(pollMsMax)
    }
    await all.stop()
  })

  test('one that comes between an empty answer and the wait for the next is not missed', async () => {
    const all = fleet(open)
    const { worker, enqueue, own, starts } = await apart(all)
    worker.wire.next('claims.claim', 'hang-reply')
    while (worker.wire.hanging === 0) await all.clock.advance(1_000)
    // The answer is made, empty, and on its way.
    const atMs = all.clock.nowMs
    await enqueue('theirs')
    worker.wire.letGo()
    await all.clock.advance(pollMsMax)
    expect((starts.get('theirs') ?? Number.POSITIVE_INFINITY) - atMs).toBeLessThanOrEqual(pollMsMax)
    // Of what its own process enqueues it hears, in that moment too.
    worker.wire.next('claims.claim', 'hang-reply')
    while (worker.wire.hanging === 0) await all.clock.advance(1_000)
    await own('own')
    worker.wire.letGo()
    await all.clock.advance(0)
    expect(starts.get('own')).toBe(all.clock.nowMs)
    await all.stop()
  })

  test.each([1_000, 10_000, 60_000, 3_600_000])(
    'after an outage of %d ms work goes on within a poll, and health said that it was degraded',
    async (outageMs) => {
      const all = fleet(open)
      const { worker, enqueue, starts } = await apart(all)
      await all.clock.advance(100_000)
      worker.wire.down('lose-request')
      await enqueue('x')
      await all.clock.advance(outageMs)
      // A call that fails within its own bound is repeated, and nobody need know.
      expect(worker.engine.health().status).toBe(outageMs > 5_000 ? 'degraded' : 'ok')
      worker.wire.up()
      const upAtMs = all.clock.nowMs
      await all.clock.advance(pollMsMax + 5_000)
      expect((starts.get('x') ?? Number.POSITIVE_INFINITY) - upAtMs).toBeLessThanOrEqual(pollMsMax)
      expect(worker.engine.health().status).toBe('ok')
      await all.stop()
    },
  )

  test('an idle worker never leaves a due job for two polls, however claims fail on the way', async () => {
    const all = fleet(open)
    const { worker, enqueue, starts } = await apart(all)
    for (const fate of ['refuse', 'lose-request', 'lose-reply'] as const) {
      await all.clock.advance(120_000)
      worker.wire.next('claims.claim', fate)
      const atMs = all.clock.nowMs
      await enqueue(fate)
      await all.clock.advance(2 * pollMsMax)
      expect((starts.get(fate) ?? Number.POSITIVE_INFINITY) - atMs).toBeLessThanOrEqual(2 * pollMsMax)
    }
    await all.stop()
  })
})
