import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { failure } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, stores } from './support.ts'

trapUnhandledRejections()

const secret = 'hunter2-marker'

describe.each(stores)('X04 on %s: a secret of a payload', (_name, open) => {
  test('is in the input that was stored, and nowhere else: no event, no health, no error, no other row', async () => {
    const all = fleet(open)
    process.env['HOLDFAST_TEST_SECRET'] = secret
    const job = defineJob<{ password: string; ends: string }>({
      name: 'job',
      timeoutMs: 5_000,
      retry: { maxAttempts: 1 },
      run: async ({ input, sleep, progress, checkpoint }) => {
        await progress(10)
        await checkpoint('step', 1)
        if (input.ends === 'fails') throw new Error('could not log in')
        if (input.ends === 'hangs') await sleep(60_000)
        return { length: input.password.length }
      },
    })
    const a = all.process({ jobs: [job] })
    await a.engine.start()
    const input = (ends: string) => ({ password: secret, ends })
    await a.engine.enqueueMany(
      ['returns', 'fails', 'hangs'].map((ends) => ({ job, input: input(ends), id: ends })),
    )
    await all.clock.advance(30_000)
    a.wire.down('lose-request')
    await all.clock.advance(30_000)
    a.wire.up()
    const errors = [
      await failure(a.engine.enqueue(job, { ...input('fails'), ends: 'otherwise' }, { id: 'fails' })),
      await failure(a.engine.enqueue({ password: secret } as never, input('x'))),
      await failure(a.engine.enqueue(job, input('x'), { metadata: [secret] as never })),
      await failure(a.engine.enqueue(job, input('x'), { runAt: { secret } as never })),
    ]
    const health = a.engine.health()
    delete process.env['HOLDFAST_TEST_SECRET']
    const { jobs, ...others } = await all.database.raw.dump()
    expect(jobs.map(({ state }) => state).toSorted()).toEqual(['failed', 'failed', 'succeeded'])
    for (const { spec, ...row } of jobs) {
      const { input: stored, ...rest } = spec
      expect(stored).toContain(secret)
      expect(JSON.stringify([rest, row])).not.toContain(secret)
    }
    const said = errors.map((error) => [String(error), (error as Error).stack])
    expect(JSON.stringify([others, a.events, health, said])).not.toContain(secret)
    await all.stop()
  })
})
