import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, states, stores } from './support.ts'

const unhandled = trapUnhandledRejections()

describe.each(stores)('E31 on %s: a promise that nobody awaits', (_name, open) => {
  test("that rejects 10 ms after its handler returned is the user's own: its job and three beside it are not touched", async () => {
    const all = fleet(open)
    const mine = new Error('detached')
    const careless = defineJob({
      name: 'careless',
      run: () => {
        void new Promise((_resolve, reject) => all.clock.timer(10, 'detached', () => reject(mine)))
        return 'fine'
      },
    })
    const other = defineJob({ name: 'other', run: ({ sleep }) => sleep(1_000) })
    const a = all.process({ jobs: [careless, other] })
    await a.engine.start()
    await a.engine.enqueue(careless, null, { id: 'careless' })
    await a.engine.enqueueMany(Array.from({ length: 3 }, () => ({ job: other, input: null })))
    await all.clock.advance(10)
    // It is not swallowed: Node ends a process by it, and then the leases of all four lapse as in any crash (E10).
    expect(unhandled.splice(0)).toEqual([mine])
    await all.clock.advance(2_000)
    expect(await states(all.database)).toEqual({ succeeded: 4 })
    for (const { attempt, failures } of (await all.database.raw.dump()).jobs) {
      expect([attempt, failures]).toEqual([1, 0])
    }
    await all.stop()
  })

  test('is none of ours: a job that fails before anybody asks leaves no rejection', async () => {
    const all = fleet(open)
    const fails = defineJob({
      name: 'fails',
      retry: { maxAttempts: 1 },
      run: () => Promise.reject(new Error('unseen')),
    })
    const a = all.process({ jobs: [fails] })
    await a.engine.start()
    const { id, result } = await a.engine.enqueue(fails, null)
    const waited = result()
    await all.clock.advance(60_000)
    expect(unhandled).toEqual([])
    await expect(waited).rejects.toMatchObject({ code: 'JOB_FAILED', error: { message: 'Error: unseen' } })
    expect(await a.engine.get(id)).toMatchObject({ state: 'failed', error: { message: 'Error: unseen' } })
    await all.stop()
  })

  test('is none of ours, whatever it was waiting for when its attempt ended', async () => {
    const all = fleet(open)
    const leaves = defineJob({
      name: 'leaves',
      timeoutMs: 1_000,
      retry: { maxAttempts: 1 },
      run: ({ sleep, progress, checkpoint }) => {
        void sleep(60_000).catch(() => {})
        void progress(10).catch(() => {})
        void checkpoint('key', 1).catch(() => {})
        return 'left'
      },
    })
    const a = all.process({ jobs: [leaves] })
    a.wire.next('jobs.progress', 'lose-request')
    await a.engine.start()
    await a.engine.enqueue(leaves, null, { id: 'x' })
    await all.clock.advance(120_000)
    expect(unhandled).toEqual([])
    expect((await all.database.job('x')).state).toBe('succeeded')
    await all.stop()
  })
})
