import { describe, expect, test } from 'vitest'
import { PermanentFailure } from '../../src/engine/errors.ts'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import type { Handler } from '../../src/engine/jobs/definition.ts'
import type { RunResult } from '../../src/sim/run.ts'
import { lineAt } from './guard/leaks.ts'
import { jobsOf, play, scenario } from './support.ts'

/** One handler in one job. */
function playHandler(handler: Handler<unknown, unknown>): Promise<RunResult> {
  return play({ scenario: scenario(jobsOf(1, handler)), keepStory: true })
}

function atMsOf({ story }: RunResult, type: string): number {
  return story?.find((line) => 'type' in line && line.type === type)?.atMs ?? Number.NaN
}

/** The final state of the first job. */
function finalOf({ story }: RunResult): unknown {
  return story?.find((line) => 'type' in line && line.type === 'job.final')
}

describe('virtual time and awaits (B03)', () => {
  test.each([1, 3, 100])('%i awaits between two timers take no time', async (k) => {
    const result = await playHandler(async ({ sleep }) => {
      await sleep(10)
      for (let n = 0; n < k; n++) await Promise.resolve()
      await sleep(10)
    })
    expect(result.verdict).toBe('pass')
    expect(atMsOf(result, 'attempt.ended') - atMsOf(result, 'attempt.started')).toBe(20)
  })

  test.each([1, 3, 100])('nor do %i ticks, nor promises of promises', async (k) => {
    const nested = async (depth: number): Promise<void> => {
      if (depth > 0) await nested(depth - 1)
    }
    const result = await playHandler(async ({ sleep }) => {
      await sleep(10)
      for (let n = 0; n < k; n++) await new Promise<void>((resolve) => process.nextTick(resolve))
      await nested(k)
      await sleep(10)
    })
    expect(result.verdict).toBe('pass')
    expect(atMsOf(result, 'attempt.ended') - atMsOf(result, 'attempt.started')).toBe(20)
  })

  test('a timer of 0 ms that sets itself again is stopped, and named', async () => {
    const result = await playHandler(async ({ sleep }) => {
      for (;;) await sleep(0)
    })
    expect(result.verdict).toBe('livelock')
    expect(result.detail).toMatch(/^time stood still at \+[\d.]+s, last in 'sleep'/)
  })

  test('many timers of one instant are no livelock', async () => {
    const result = await playHandler(async ({ sleep }) => {
      await Promise.all(Array.from({ length: 5_000 }, () => sleep(1_000)))
    })
    expect(result.verdict).toBe('pass')
  })
})

describe('what a handler asks of the machine', () => {
  test('is a leak at its line, and no verdict on any invariant', async () => {
    const result = await playHandler(async ({ sleep }) => {
      await sleep(10)
      return Math.random() // planted
    })
    expect(result.verdict).toBe('nondeterministic')
    expect(result.leak?.what).toBe('Math.random')
    expect(lineAt(result.leak?.site ?? '')).toContain('// planted')
  })

  test('is a leak in the workload, too', async () => {
    const workload = (): never[] => (Math.random() < 2 ? [] : []) // planted in the workload
    const result = await play({ scenario: scenario({ workload }) })
    expect(result.verdict).toBe('nondeterministic')
    expect(lineAt(result.leak?.site ?? '')).toContain('// planted in the workload')
  })

  test('is seen when no guard sees it, by what moves while the world stands still', async () => {
    // Stands for a socket: the promise is settled by the real loop, while the world waits.
    let beats = -1
    let answer: (value: string) => void = () => {}
    const ask = (): Promise<string> => {
      beats = 0
      return new Promise((resolve) => (answer = resolve))
    }
    const result = await play({
      scenario: scenario(jobsOf(1, ask)),
      beat: () => {
        if (beats >= 0 && ++beats === 3) answer('from a socket')
      },
    })
    expect(result.verdict).toBe('nondeterministic')
    expect(result.detail).toMatch(/handler of job j0 on w[12] waited for something outside the simulation/)
  })

  test('is no leak before or after the run', async () => {
    expect(Math.random()).toBeLessThan(1)
    const result = await playHandler(async ({ sleep }) => sleep(10))
    expect(Math.random()).toBeLessThan(1)
    expect(result.verdict).toBe('pass')
  })
})

describe('a handler that hangs', () => {
  test('is ended by its timeout and is no leak', async () => {
    const result = await playHandler(() => new Promise(() => {}))
    expect(result.leak).toBeNull()
    expect(result.verdict).toBe('pass')
    expect(finalOf(result)).toMatchObject({ state: 'failed', failures: 2 })
  })

  test('costs the world one short wait, not one an event', async () => {
    const turnsOf = async (activeMs: number): Promise<number> => {
      let turns = 0
      const hang = jobsOf(1, () => new Promise(() => {}))
      await play({ scenario: scenario({ ...hang, activeMs }), beat: () => void (turns += 1) })
      return turns
    }
    // Some thousand turns of the real loop for each hang, whatever the world does for how long.
    expect(await turnsOf(3_600_000)).toBeLessThan(10 * (await turnsOf(60_000)))
  })
})

describe('what a handler throws', () => {
  const nothing: unknown = undefined
  test.each<[string, () => unknown]>([
    ['undefined', () => nothing],
    ['null', () => null],
    ['a number', () => Number.NaN],
    ['a symbol', () => Symbol('odd')],
    ['an object without a prototype', () => Object.create(null)],
    ['an object that throws when it is read', () => ({ toString: () => throwing('unreadable') })],
    ['an error whose message throws', () => Object.defineProperty(new Error('x'), 'message', throwingGetter)],
    ['an error of a megabyte', () => new Error('x'.repeat(1_000_000))],
    ['an error with NUL and half a character', () => new Error('\u0000\ud800')],
    ['a function', () => () => {}],
    ['a frozen error', () => Object.freeze(new Error('frozen'))],
    ['a revoked proxy', revokedProxy],
    [
      'a proxy whose prototype throws',
      () => new Proxy({}, { getPrototypeOf: () => throwing('no prototype') }),
    ],
  ])('%s fails the job, and the run goes on', async (_, make) => {
    const result = await playHandler(() => Promise.reject(make()))
    expect([result.verdict, result.detail]).toEqual(['pass', null])
    expect(finalOf(result)).toMatchObject({ state: 'failed', failures: 2 })
  })

  test.each<[string, () => unknown]>([
    ['a value without a JSON form', () => 1n],
    ['a value that throws when it is read', () => ({ toJSON: () => throwing('no') })],
    ['a revoked proxy', revokedProxy],
  ])('so does %s that it returns', async (_, make) => {
    const result = await playHandler(async ({ sleep }) => {
      await sleep(1)
      return make()
    })
    expect([result.verdict, result.detail]).toEqual(['pass', null])
    expect(finalOf(result)).toMatchObject({ state: 'failed' })
  })

  test('for good ends the job at once', async () => {
    const result = await playHandler(() => Promise.reject(new PermanentFailure('never')))
    expect(finalOf(result)).toMatchObject({ state: 'failed', failures: 1 })
  })
})

describe('code that breaks outside of any handler', () => {
  test('a workload that throws is an error of its run', async () => {
    const workload = (): never => throwing('no work today')
    const result = await play({ scenario: scenario({ workload }) })
    expect(result.verdict).toBe('error')
    expect(result.detail).toContain('no work today')
  })

  test('an input that its schema refuses is an error of the run, named', async () => {
    const job = defineJob<unknown>({ name: 'big' })
    const workload = () => [{ atMs: 0, job, input: 1n, options: { id: 'a' } }]
    const result = await play({ scenario: scenario({ jobs: [job], workload }) })
    expect(result.verdict).toBe('error')
  })

  test('an error reported from outside the events ends the run', async () => {
    let fail: (error: unknown) => void = () => {}
    const jobs = jobsOf(1, async ({ sleep }) => {
      fail(new Error('unhandled rejection: of a test'))
      await sleep(10)
    })
    const result = await play({ scenario: scenario(jobs), trap: (failing) => void (fail = failing) })
    expect(result.verdict).toBe('error')
    expect(result.detail).toContain('unhandled rejection: of a test')
  })
})

function throwing(message: string): never {
  throw new Error(message)
}

const throwingGetter = { get: () => throwing('unreadable') }

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
