// Two releases on one store: what the newer one stored, the older one leaves to it (contract 0.4, 0.19, 25.5).
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { bench, database, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { virtualClock } from '../support/virtual-clock.ts'

trapUnhandledRejections()

const queues = { default: { concurrency: 5 } }
const ran: unknown[] = []
const older = defineJob<string>({
  name: 'mail',
  inputVersion: 1,
  retry: { maxAttempts: 1 },
  run: ({ input }) => void ran.push(['older', input]),
})
const newer = defineJob<unknown>({
  name: 'mail',
  inputVersion: 2,
  retry: { maxAttempts: 1 },
  upgradeInput: (to) => ({ to }),
  run: ({ input }) => void ran.push(['newer', input]),
})

describe('an input of a newer version', () => {
  it('is given back by an older worker, uncharged and after a while, and done by one that knows it', async () => {
    ran.length = 0
    const clock = virtualClock()
    const shared = database(clock)
    const old = bench({ clock, database: shared, jobs: [older], queues })
    await old.engine.start()
    const producer = bench({ clock, database: shared, jobs: [newer] })
    await producer.engine.enqueue(newer, { to: 'a' }, { id: 'new' })
    await clock.advance(35_000)
    expect(await shared.job('new')).toMatchObject({ state: 'queued', failures: 0, evictions: 0, error: null })
    const told = old.of('attempt.misfit')
    expect(told[0]).toEqual({ type: 'attempt.misfit', job: 'new', epoch: 1, inputVersion: 2, knows: 1 })
    // Once in ten seconds and a poll, not in a circle.
    expect(told.length).toBeGreaterThan(1)
    expect(told.length).toBeLessThan(5)
    const young = bench({ clock, database: shared, jobs: [newer], queues })
    await stopNow(old)
    await young.engine.start()
    await clock.advance(60_000)
    expect(await shared.job('new')).toMatchObject({ state: 'succeeded', failures: 0 })
    expect(ran).toEqual([['newer', { to: 'a' }]])
    await stopNow(young)
  })

  it('is upgraded where it is an older one (0.19)', async () => {
    ran.length = 0
    const b = bench({ jobs: [newer], queues })
    await b.engine.start()
    await b.engine.enqueue(older, 'b', { id: 'old' })
    await b.clock.advance(1_000)
    expect(ran).toEqual([['newer', { to: 'b' }]])
    expect(await b.database.job('old')).toMatchObject({ state: 'succeeded' })
    await stopNow(b)
  })
})
