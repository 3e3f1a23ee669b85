import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { RenewParams } from '../../src/engine/ports/store.ts'
import { never } from '../support/bench.ts'
import { trapUnhandledRejections } from '../support/unhandled.ts'
import { fleet, stores } from './support.ts'

trapUnhandledRejections()

describe.each(stores)('E07 on %s: a name may come back, an identity does not', (_name, open) => {
  test('a process that drains claims nothing; its successor keeps its leases alive no longer, and runs its job within one', async () => {
    const all = fleet(open)
    const { clock, database } = all
    const leaseMs = 30_000
    const hangs = defineJob({ name: 'job', timeoutMs: 86_400_000, run: () => never() })
    const a = all.process({ name: 'w1', jobs: [hangs] })
    await a.engine.start()
    await a.engine.enqueue(hangs, null, { id: 'x' })
    await clock.settle()
    void a.engine.stop({ drainMs: 150_000 })
    await clock.settle()
    const claims = a.wire.sent('claims.claim').length
    await a.engine.enqueue(hangs, null, { id: 'y' })
    await clock.advance(60_000)
    expect(a.engine.health().status).toBe('stopping')
    expect(a.wire.sent('claims.claim')).toHaveLength(claims)

    const runs: string[] = []
    const works = defineJob({
      name: 'job',
      run: async ({ job: { id }, sleep }) => {
        runs.push(id)
        await sleep(100_000)
      },
    })
    const b = all.process({ name: 'w1', jobs: [works] })
    await b.engine.start()
    await clock.advance(45_000)
    expect(runs).toEqual(['y'])
    expect(await database.job('x')).toMatchObject({ state: 'running', epoch: 1, evictions: 0 })

    // A exits for good. From now on only B's heartbeats come.
    a.wire.down('lose-request')
    const { token } = await database.job('x')
    const leaseOf = async (): Promise<number | undefined> =>
      (await database.raw.dump()).leases.find((lease) => lease.token === token)?.expiresAtMs
    const expiresAtMs = await leaseOf()
    await clock.advance(15_000)
    expect(await leaseOf()).toBe(expiresAtMs)
    await clock.advance(leaseMs + 10_000 - 15_000)
    expect(runs).toEqual(['y', 'x'])
    const tokens = b.wire.sent('claims.renew').flatMap((params) => (params as RenewParams).tokens)
    expect(tokens).not.toContain(token)
    const started = all.told('attempt.started').map(({ job, epoch }) => `${job} ${epoch}`)
    expect(new Set(started).size).toBe(started.length)
    await all.stop()
  })
})
