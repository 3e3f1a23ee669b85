import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createEngine } from '../../../src/engine/engine.ts'
import { InvalidConfig } from '../../../src/engine/errors.ts'
import { type JobOptions, defineJob, isHandled } from '../../../src/engine/jobs/definition.ts'
import { payloadsOf } from '../../../src/engine/jobs/payloads.ts'
import type { JobSpec } from '../../../src/engine/jobs/record.ts'
import { handlerInput } from '../../../src/engine/jobs/input.ts'
import { bench } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

describe('a definition', () => {
  it('has the defaults that the documentation states (0.5, 0.3)', () => {
    expect(defineJob({ name: 'mail' }).settings).toEqual({
      inputVersion: 1,
      queue: 'default',
      band: 2,
      maxAttempts: 3,
      maxEvictions: 3,
      backoffMs: [1_000, 2_000, 4_000],
      jitter: false,
      leaseTtlMs: 30_000,
      timeoutMs: 300_000,
      keepMs: 604_800_000,
      onUncertainLease: 'continue',
    })
  })

  it('may stand apart from its handler, which the engine recognises', () => {
    const described = defineJob({ name: 'mail', input: z.object({ to: z.string() }) })
    const handled = described.handle(({ input }) => input.to.length)
    expect(isHandled(described)).toBe(false)
    expect(isHandled(handled)).toBe(true)
    expect(handled.settings).toBe(described.settings)
  })

  const century = 100 * 365 * 86_400_000
  const refused: [string, Partial<JobOptions<unknown, unknown>>][] = [
    ['an empty name', { name: '' }],
    ['a name with NUL (X01)', { name: 'a\0b' }],
    ['a name with a lone surrogate (X01)', { name: 'a\ud800' }],
    ['a name of 513 characters', { name: 'x'.repeat(513) }],
    ['a queue without a name', { queue: '' }],
    ['a queue with NUL (X01)', { queue: '\0' }],
    ['an unknown priority', { priority: 'urgent' as never }],
    ['an unknown answer to an uncertain lease', { onUncertainLease: 'stop' as never }],
    ['version 0', { inputVersion: 0 }],
    ['no attempts', { retry: { maxAttempts: 0 } }],
    ['half an attempt', { retry: { maxAttempts: 1.5 } }],
    ['no evictions', { retry: { maxEvictions: 0 } }],
    ['a lease of 0', { leaseTtlMs: 0 }],
    ['a lease of Infinity (E17)', { leaseTtlMs: Number.POSITIVE_INFINITY }],
    ['a lease of NaN (E17)', { leaseTtlMs: Number.NaN }],
    ['a lease beyond a century', { leaseTtlMs: century + 1 }],
    ['a timeout of -1 (E17)', { timeoutMs: -1 }],
    ['a timeout of Infinity (E17)', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['a timeout beyond a century', { timeoutMs: century + 1 }],
    ['a negative backoff', { retry: { backoff: { kind: 'constant', delayMs: -1 } } }],
    ['a backoff of NaN', { retry: { backoff: { kind: 'constant', delayMs: Number.NaN } } }],
    ['a backoff beyond a century', { retry: { backoff: { kind: 'constant', delayMs: century + 1 } } }],
    ['a backoff without a cap', { retry: { backoff: { kind: 'linear', firstMs: 1 } as never } }],
    [
      'a backoff that falls',
      { retry: { backoff: { kind: 'exponential', firstMs: 9, maxMs: 9, factor: 0.5 } } },
    ],
    ['an unknown backoff', { retry: { backoff: { kind: 'fibonacci' } as never } }],
  ]
  it.each(refused)('is refused with InvalidConfig for %s', (_what, options) => {
    expect(() => defineJob({ name: 'mail', ...options })).toThrow(InvalidConfig)
  })

  it('is refused beside another of the same name', () => {
    const { database } = bench()
    const jobs = [defineJob({ name: 'mail' }), defineJob({ name: 'mail', queue: 'other' })]
    expect(() => createEngine({ store: database.raw, jobs })).toThrow(InvalidConfig)
  })
})

describe('the input of a handler', () => {
  const stored = (value: unknown, inputVersion = 1): Pick<JobSpec, 'id' | 'input' | 'inputVersion'> => ({
    id: 'x',
    input: JSON.stringify(value),
    inputVersion,
  })

  it('is the output of a synchronous schema (0.23)', async () => {
    const job = defineJob({
      name: 'mail',
      input: z.object({ at: z.coerce.date(), n: z.number().default(7) }),
    })
    expect(await handlerInput(job, stored({ at: '2026-01-01T00:00:00Z' }), payloadsOf(undefined))).toEqual({
      at: new Date('2026-01-01T00:00:00Z'),
      n: 7,
    })
  })

  it('is the output of an asynchronous schema (0.23)', async () => {
    const input = z.string().transform(async (text) => text.toUpperCase())
    expect(await handlerInput(defineJob({ name: 'mail', input }), stored('abc'), payloadsOf(undefined))).toBe(
      'ABC',
    )
  })

  it('is INPUT_INVALID with the path of what is wrong when the schema refuses it', async () => {
    const job = defineJob({ name: 'mail', input: z.object({ to: z.array(z.string()) }) })
    await expect(handlerInput(job, stored({ to: ['a', 1] }), payloadsOf(undefined))).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('to.1'),
    })
  })

  it('of an older version is upgraded before it is validated (0.19)', async () => {
    const job = defineJob({
      name: 'mail',
      input: z.object({ to: z.array(z.string()) }),
      inputVersion: 3,
      upgradeInput: (old, from) => ({ to: [`${(old as { to: string }).to} from ${from}`] }),
    })
    expect(await handlerInput(job, stored({ to: 'ann' }, 1), payloadsOf(undefined))).toEqual({
      to: ['ann from 1'],
    })
    expect(await handlerInput(job, stored({ to: ['ann'] }, 3), payloadsOf(undefined))).toEqual({
      to: ['ann'],
    })
  })

  it('may be upgraded asynchronously', async () => {
    const job = defineJob({
      name: 'mail',
      input: z.string(),
      inputVersion: 2,
      upgradeInput: async (old) => `${String(old)}!`,
    })
    expect(await handlerInput(job, stored('a', 1), payloadsOf(undefined))).toBe('a!')
  })
})
