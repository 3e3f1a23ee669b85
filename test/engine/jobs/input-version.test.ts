// Inputs of an older version, as a deploy finds them (contract 0.19, 0.23).
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { type Bench, bench, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const old = defineJob({ name: 'mail', input: z.object({ to: z.string() }) })
const retry = { maxAttempts: 3, backoff: { kind: 'constant', delayMs: 0, jitter: false } } as const
const minuteMs = 60_000

interface Worker extends Bench {
  /** From which version each attempt was upgraded, and what its handler got. */
  readonly upgraded: number[]
  readonly got: unknown[]
}

/** A worker that knows version 2, and fails until the third attempt. */
function worker(): Worker {
  const upgraded: number[] = []
  const got: unknown[] = []
  const mail = defineJob({
    name: 'mail',
    input: z.object({ to: z.array(z.string()).min(1), copies: z.number().default(1) }),
    inputVersion: 2,
    upgradeInput: (input, from) => {
      upgraded.push(from)
      const { to } = input as { readonly to: string }
      return { to: to === '' ? [] : [to] }
    },
    retry,
    run: ({ input, attempt }) => {
      got.push(input)
      if (attempt.number < 3) throw new Error('not yet')
    },
  })
  return { ...bench({ jobs: [mail], queues: { default: { concurrency: 1 } } }), upgraded, got }
}

describe('an input of an older version', () => {
  it('is upgraded before it is validated, at each attempt, and stays in the store as it was (0.19)', async () => {
    const b = worker()
    const producer = bench({ jobs: [], database: b.database, clock: b.clock })
    await producer.engine.enqueue(
      { ...old, settings: { ...old.settings, backoffMs: [0] } },
      { to: 'ann' },
      { id: 'a' },
    )
    const before = await b.database.job('a')
    await b.engine.start()
    await b.clock.advance(minuteMs)
    expect(b.upgraded).toEqual([1, 1, 1])
    expect(b.got).toEqual(Array.from({ length: 3 }, () => ({ to: ['ann'], copies: 1 })))
    const { spec, state, attempt } = await b.database.job('a')
    expect([state, attempt]).toEqual(['succeeded', 3])
    expect(spec).toEqual(before.spec)
    expect([spec.input, spec.inputVersion]).toEqual(['{"to":"ann"}', 1])
    await stopNow(b)
  })

  it('that fails validation once it is upgraded fails for good, and no handler runs (0.23)', async () => {
    const b = worker()
    const producer = bench({ jobs: [], database: b.database, clock: b.clock })
    await producer.engine.enqueue(old, { to: '' }, { id: 'a' })
    await b.engine.start()
    await b.clock.advance(minuteMs)
    expect([b.upgraded, b.got]).toEqual([[1], []])
    const { spec, state, attempt, error } = await b.database.job('a')
    expect([state, attempt, error?.code, spec.input]).toEqual(['failed', 1, 'INPUT_INVALID', '{"to":""}'])
    await stopNow(b)
  })
})
