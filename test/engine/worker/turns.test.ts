// What an event loop that is kept busy must not do to promises: each was a defect that somebody found from outside.
import { expect, it } from 'vitest'
import type { AttemptInfo } from '../../../src/engine/jobs/context.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { bench, gate } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

const unhandled = trapUnhandledRejections()

it('a backlog of quick jobs leaves timers their turn, though the store answers at once (0.3, E11)', async () => {
  const ran: number[] = []
  const quick = defineJob<number>({ name: 'quick', run: ({ input }) => void ran.push(input) })
  const b = bench({ jobs: [quick], queues: { default: { concurrency: 1 } }, bare: true })
  await b.engine.enqueueMany(
    Array.from({ length: 100 }, (_, input) => ({ job: quick, input, id: `q${input}` })),
  )
  let ranAtTimer = -1
  b.clock.timer(0, 'test', () => (ranAtTimer = ran.length))
  await b.engine.start()
  await b.clock.advance(0)
  expect(ranAtTimer).toBeLessThan(100)
  expect(ran).toEqual(Array.from({ length: 100 }, (_, input) => input))
  await b.engine.stop()
})

it('after a loop that was blocked for longer than the lease nothing calls it certain (0.21, E11)', async () => {
  const attempts: AttemptInfo[] = []
  const blocked = gate()
  const spin = defineJob({
    name: 'spin',
    run: ({ attempt }) => {
      attempts.push(attempt)
      return blocked.promise
    },
  })
  const b = bench({ jobs: [spin], queues: { default: { concurrency: 5 } } })
  await b.engine.start()
  await b.engine.enqueue(spin, null, { id: 'x' })
  await b.clock.settle()
  expect(attempts[0]?.leaseCertain).toBe(true)
  b.wire.down('lose-request')
  const thawed = b.clock.freeze(31_000)
  await b.clock.settle()
  expect(b.clock.nowMs).toBe(31_000)
  // No timer has had its turn yet.
  expect(attempts[0]?.leaseCertain).toBe(false)
  await thawed
  expect(b.of('attempt.uncertain')).toHaveLength(1)
  b.wire.up()
  blocked.open()
  await b.clock.advance(10_000)
  expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', attempt: 1 })
  await b.engine.stop()
})

it('what a handler still waits for when it returned keeps no timer (E26)', async () => {
  const racing = defineJob({
    name: 'racing',
    run: ({ sleep }) =>
      Promise.race([
        Promise.resolve('done'),
        sleep(2 ** 31 + 5).then(() => Promise.reject(new Error('late'))),
      ]),
  })
  const b = bench({ jobs: [racing], queues: { default: { concurrency: 1 } } })
  await b.engine.start()
  await b.engine.enqueue(racing, null, { id: 'x' })
  await b.clock.settle()
  expect(await b.database.job('x')).toMatchObject({ state: 'succeeded', result: '"done"' })
  await b.engine.stop()
  expect(b.clock.armed).toEqual([])
})

it('a listener that rejects is told as an observer that failed, and is no unhandled rejection', async () => {
  const job = defineJob({ name: 'job', run: () => {} })
  const b = bench({ jobs: [job], queues: { default: { concurrency: 1 } } })
  b.engine.on('attempt.started', () => Promise.reject(new Error('from a listener')) as never)
  await b.engine.start()
  await b.engine.enqueue(job, null, { id: 'x' })
  await b.clock.settle()
  expect(b.of('observer.failed')).toMatchObject([{ message: expect.stringContaining('from a listener') }])
  expect(await b.database.job('x')).toMatchObject({ state: 'succeeded' })
  await b.engine.stop()
  expect(unhandled).toEqual([])
})

it('a schema may answer with any thenable (0.23)', async () => {
  // oxlint-disable-next-line unicorn/no-thenable
  const answer = { then: (resolve: (result: object) => void) => resolve({ issues: [{ message: 'never' }] }) }
  const input = { '~standard': { version: 1, vendor: 'test', validate: () => answer } } as never
  const job = defineJob<unknown>({ name: 'job', input })
  const b = bench()
  await expect(b.engine.enqueue(job, {}, { id: 'x' })).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  expect((await b.database.raw.dump()).jobs).toEqual([])
})
