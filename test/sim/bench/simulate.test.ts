// A bench of a user's own, run in this process: one that holds, one that does not, and those that prove nothing.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { InvalidArgument } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import { property } from '../../../src/properties/index.ts'
import { bench, replay, simulate } from '../../../src/sim/index.ts'
import { chargedOnce, order, till } from './support.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-bench-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a bench', () => {
  test('that is right passes, its own property evaluated beside the promises of the engine', async () => {
    const found = await simulate(till(false), { seeds: 20 })
    expect(found.failures.map(({ text }) => text)).toEqual([])
    expect(found).toMatchObject({
      verdict: 'pass',
      reasons: [],
      seeds: 20,
      where: 'here',
      guard: 'preloaded',
    })
    const own = found.properties.find(({ name }) => name === 'charged-once')
    expect(own).toMatchObject({ kind: 'always', violations: 0, reached: true })
    expect(own?.evaluations).toBeGreaterThan(100)
    expect(found.properties.find(({ name }) => name === 'exactly-once-claim')?.evaluations).toBeGreaterThan(
      100,
    )
    expect(found.faults['service-lost-reply']).toBeGreaterThan(0)
  })

  test('that is wrong fails by its own property, shrunk to a fault and a job, and can be replayed', async () => {
    const wrong = till(true)
    const found = await simulate(wrong, { seeds: 12, report: folder })
    expect(found.verdict).toBe('violated')
    expect(new Set(found.failures.map(({ property: by }) => by))).toEqual(new Set(['charged-once']))
    const [first] = found.failures
    expect(first).toMatchObject({ kind: 'violated', shrunk: true })
    expect(first?.faults.length).toBeLessThanOrEqual(2)
    expect(first?.steps).toBeLessThanOrEqual(3)
    expect(first?.text).toMatch(/FAIL charged-once {3}seed 0x\w+/)
    expect(first?.text).toMatch(/order (order-\d+) is charged 2 times/)
    expect(first?.text).toContain('payments.charge of {"key":"order-')
    const file = /replay: replay\(till, '(.*)'\)$/.exec(first?.text ?? '')?.[1] ?? ''
    expect(path.dirname(file)).toBe(folder)

    const again = await replay(wrong, file)
    expect(again).toMatchObject({ verdict: 'violated', same: true })
    expect(again.story.some((line) => line.includes('payments.charge'))).toBe(true)
    expect((await replay(wrong, JSON.parse(readFileSync(file, 'utf8')))).same).toBe(true)
    // The mended code makes other choices, or none of them fails: never the recorded failure.
    expect((await replay(till(false), file)).same).toBe(false)
    expect(await replay(wrong, first?.seed ?? '')).toMatchObject({ verdict: 'violated', same: null })
  })

  test('takes the same course on SQLite, and on each run', async () => {
    const options = { seeds: 5, firstSeed: '0x10', shrinkMs: 0 }
    const { traceHash } = await simulate(till(true), options)
    expect((await simulate(till(true), options)).traceHash).toBe(traceHash)
    expect((await simulate(till(true), { ...options, store: 'sqlite' })).traceHash).toBe(traceHash)
    expect((await simulate(till(true), { ...options, firstSeed: 17n })).traceHash).not.toBe(traceHash)
  })

  test('with a property that is never evaluated is inconclusive, and says which', async () => {
    const never = property({
      ...chargedOnce,
      name: 'never-asked',
      on: ['exclusive.began'],
    })
    const found = await simulate(till(false, { properties: [chargedOnce, never] }), { seeds: 20 })
    expect(found).toMatchObject({ verdict: 'inconclusive', reasons: ['never-asked was never evaluated'] })
  })

  test('whose property throws is no verdict: the error names it and its line', async () => {
    const throwing = property({
      ...chargedOnce,
      name: 'broken',
      step: () => {
        throw new TypeError('no such thing')
      },
    })
    const found = await simulate(till(false, { properties: [throwing] }), { seeds: 1 })
    expect(found.failures[0]).toMatchObject({ kind: 'error', property: 'error' })
    expect(found.failures[0]?.message).toMatch(/property broken threw: TypeError: no such thing/)
    expect(found.failures[0]?.message).toContain('simulate.test.ts')
  })

  test('whose jobs are made for each process keeps nothing across the death of one', async () => {
    const made: Record<string, number>[] = []
    const counting = bench({
      name: 'counting',
      jobs: () => {
        const kept = { starts: 0 }
        made.push(kept)
        return [
          order.handle(() => {
            kept.starts += 1
          }),
        ]
      },
      workload: ({ enqueue }) => {
        for (let k = 0; k < 6; k++) enqueue(order, { cents: 1 }, { id: `o-${k}`, atMs: k * 50_000 })
      },
      workers: 1,
      faults: { families: ['crash'], swarm: false },
    })
    await simulate(counting, { seeds: 1, shrinkMs: 0 })
    // The definitions, the client, and at least two processes of the worker.
    expect(made.length).toBeGreaterThanOrEqual(4)
    expect(Math.max(...made.map(({ starts }) => starts ?? 0))).toBeLessThan(6)
  })
})

describe('ambient', () => {
  const asks = defineJob<null>({ name: 'asks' })
  const asking = (ambient: 'refuse' | 'virtual', seen: string[]) =>
    bench({
      name: 'asking',
      ambient,
      jobs: [
        asks.handle(async ({ sleep }) => {
          const startedMs = Date.now()
          await sleep(1_500)
          seen.push(`${new Date(startedMs).getUTCFullYear()} ${Date.now() - startedMs} ${Math.random()}`)
        }),
      ],
      workload: ({ enqueue }) => {
        for (let k = 0; k < 3; k++) enqueue(asks, null, { id: `a-${k}`, atMs: k * 1_000 })
      },
      faults: { families: [] },
    })

  test('refuse: what a handler asks of the machine is a leak, named with its line', async () => {
    const found = await simulate(asking('refuse', []), { seeds: 1 })
    expect(found.verdict).toBe('nondeterministic')
    expect(found.failures[0]?.message).toMatch(/Date.now at .*simulate.test.ts:\d+/)
  })

  test('virtual: the world answers, the same for the same seed', async () => {
    const [one, same, other]: [string[], string[], string[]] = [[], [], []]
    expect((await replay(asking('virtual', one), 5)).failures).toEqual([])
    await replay(asking('virtual', same), 5)
    await replay(asking('virtual', other), 6)
    expect(one).toHaveLength(3)
    expect(one.every((line) => line.startsWith('2026 1500 0.'))).toBe(true)
    expect(new Set(one).size).toBe(3)
    expect(same).toEqual(one)
    expect(other).not.toEqual(one)
    // Outside of a run the clock is the machine's again.
    expect(Math.abs(Date.now() - performance.timeOrigin - performance.now())).toBeLessThan(60_000)
  })
})

describe('what cannot work is refused, naming the field', () => {
  test.each([
    [{}, /seeds must be a whole number/],
    [{ seeds: 0 }, /seeds must be a whole number from 1/],
    [{ seeds: 1, shrinkMs: -1 }, /shrinkMs/],
    [{ seeds: 1, store: 'postgres' }, /store must be one of memory, sqlite, pglite, not 'postgres'/],
    [{ seeds: 1, firstSeed: 1.5 }, /firstSeed must be a whole number or its text/],
    [{ seeds: 1, firstSeed: 'x' }, /a seed is a whole number/],
    [{ seeds: 1, report: '' }, /report must be the name of a folder/],
    [{ seeds: 1, where: 'there' }, /where must be 'here' or 'threads'/],
    [{ seeds: 1, where: 'threads' }, /bench till: it takes a module/],
  ])('simulate %j', async (options, reason) => {
    const refused = simulate(till(false), options as never)
    await expect(refused).rejects.toThrow(InvalidArgument)
    await expect(refused).rejects.toThrow(reason)
  })

  test.each([null, {}, 'till', { name: 'till', workload: () => [], families: [] }])(
    'simulate of %j, which is no bench',
    async (given) => {
      await expect(simulate(given as never, { seeds: 1 })).rejects.toThrow(/made by bench\(\.\.\.\)/)
    },
  )

  test('replay of what is neither a seed nor a file, or the file of another bench', async () => {
    await expect(replay(till(false), 'reports/nowhere.json')).rejects.toThrow(/a seed is a whole number/)
    await expect(replay(till(false), {} as never)).rejects.toThrow(/no replay file/)
    const [failure] = (await simulate(till(true), { seeds: 12, shrinkMs: 0 })).failures
    const file = { ...failure?.file, scenario: 'other' }
    await expect(replay(till(false), file as never)).rejects.toThrow(/of bench 'other', not of 'till'/)
  })
})
