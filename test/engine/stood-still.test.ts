// A process that stood still: its event loop was blocked, it was stopped, or the machine slept (cases E11, E14).
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { type Bench, bench, never, stopNow } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'

trapUnhandledRejections()

const job = defineJob({ name: 'job', run: () => never() })

async function running(count = 2): Promise<Bench> {
  const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
  await b.engine.start()
  for (let n = 0; n < count; n++) await b.engine.enqueue(job, null, { id: `j${n}` })
  await b.clock.settle()
  return b
}

const types = (b: Bench, fromMs: number): string[] => b.events.slice(fromMs).map(({ type }) => type)

describe('a process that stood still', () => {
  it('for longer than its leases calls none certain before a renewal has answered, and renews at once', async () => {
    const b = await running(1)
    await b.clock.advance(1_000)
    const before = b.events.length
    const renewed = b.wire.sent('claims.renew').length
    b.wire.next('claims.renew', 'hang')
    await b.clock.freeze(40_000)
    expect(types(b, before).slice(0, 2).toSorted()).toEqual(['attempt.uncertain', 'loop.stalled'])
    expect(b.wire.sent('claims.renew')).toHaveLength(renewed + 1)
    expect(types(b, before)).not.toContain('attempt.certain')
    b.wire.letGo()
    await b.clock.settle()
    expect(types(b, before)).toContain('attempt.certain')
    expect(await b.database.job('j0')).toMatchObject({ state: 'running', epoch: 1, attempt: 1 })
    await stopNow(b)
  })

  it('whose timers count only the time awake renews at its first sweep, not at its next heartbeat', async () => {
    // The clock goes on while the machine sleeps; timers are as far from their time as before.
    const b = await running(1)
    await b.clock.advance(1_000)
    b.clock.sleep(3_600_000)
    const renewed = b.wire.sent('claims.renew').length
    await b.clock.advance(4_000)
    expect(b.of('loop.stalled')).toMatchObject([{ forMs: 3_595_000, jobs: ['j0'] }])
    expect(b.of('attempt.uncertain')).toHaveLength(1)
    expect(b.wire.sent('claims.renew')).toHaveLength(renewed + 1)
    await stopNow(b)
  })

  it('between a claim and its first handlers starts none that it cannot vouch for', async () => {
    const b = bench({ jobs: [job], queues: { default: { concurrency: 5 } } })
    await b.engine.start()
    await b.clock.advance(1_000)
    b.wire.next('claims.claim', 'hang')
    await b.engine.enqueue(job, null, { id: 'j0' })
    await turn()
    b.wire.letGo()
    for (let k = 0; k < 5 && !b.clock.armed.includes('start'); k++) await turn()
    expect(b.clock.armed).toContain('start')
    b.clock.sleep(40_000)
    b.wire.next('claims.renew', 'hang')
    await b.clock.settle()
    expect(b.of('attempt.uncertain')).toHaveLength(1)
    expect(b.of('attempt.started')).toHaveLength(0)
    b.wire.letGo()
    await b.clock.settle()
    expect(b.of('attempt.started')).toHaveLength(1)
    await stopNow(b)
  })
})
