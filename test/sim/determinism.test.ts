import { availableParallelism } from 'node:os'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { judge } from '../../src/sim/judge.ts'
import { scenarios } from '../../src/sim/scenarios/index.ts'
import { mixedWork } from '../../src/sim/scenarios/jobs.ts'
import type { Scenario } from '../../src/sim/scenarios/scenario.ts'
import { standard } from '../../src/sim/scenarios/standard.ts'
import { formatSeed } from '../../src/sim/seed.ts'
import type { runPool } from '../../src/sim/threads/pool.ts'
import { play } from './support.ts'

const seed = 17n
const request = {
  seed: formatSeed(seed),
  scenario: 'standard',
  store: 'memory',
  families: null,
  verify: false,
  story: false,
  plan: null,
  draws: null,
}

/** Threads and processes start from files, and Node 20 reads no TypeScript: they are compared with the build. */
const dist = (file: string): string => new URL(`../../dist/${file}`, import.meta.url).href

async function builtHere(): Promise<string> {
  const built = (await import(dist('sim/judge.js'))) as { judge: typeof judge }
  const own = (await import(dist('sim/scenarios/index.js'))) as { scenarios: typeof scenarios }
  return (await built.judge(request, own.scenarios, {})).traceHash
}

/** The hash of that seed in a process of its own. */
async function elsewhere(env: Readonly<Record<string, string>>): Promise<string> {
  const program = `
    const { judge } = await import('${dist('sim/judge.js')}')
    const { scenarios } = await import('${dist('sim/scenarios/index.js')}')
    const result = await judge(${JSON.stringify(request)}, scenarios, {})
    console.log(result.traceHash + ' ' + result.verdict)`
  const preload = ['--import', new URL('../../dist/sim/guard/preload.js', import.meta.url).href]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...preload, '--input-type=module', '-e', program],
    { env: { ...process.env, ...env } },
  )
  return stdout.trim()
}

describe('one seed has one trace (B01)', () => {
  test('alone, again, and after 500 others in this process', async () => {
    const hashes = new Set([(await play({ scenario: standard, seed })).traceHash])
    hashes.add((await play({ scenario: standard, seed })).traceHash)
    const brief = { ...standard, activeMs: 20_000, workload: briefWork }
    for (let k = 0; k < 500; k++) await play({ scenario: brief, seed: 1_000n + BigInt(k) })
    hashes.add((await play({ scenario: standard, seed })).traceHash)
    hashes.add((await play({ scenario: standard, seed, keepStory: true, keepDraws: true })).traceHash)
    hashes.add((await play({ scenario: standard, seed, properties: [] })).traceHash)
    expect([...hashes]).toHaveLength(1)
  })

  test.each<[string, Record<string, string>]>([
    ['in another process', {}],
    ['under another time zone', { TZ: 'Asia/Kathmandu' }],
    ['under a zone with half an hour of summer', { TZ: 'Australia/Lord_Howe' }],
    ['under another locale', { LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', LANGUAGE: 'tr' }],
  ])('%s', async (_, env) => {
    expect(await elsewhere(env)).toBe(`${await builtHere()} pass`)
  })

  test('in worker threads, two at a time', async () => {
    const traceHash = await builtHere()
    const heard: string[] = []
    let left = 4
    const built = (await import(dist('sim/threads/pool.js'))) as { runPool: typeof runPool }
    await built.runPool({
      url: null,
      store: () => ({ name: 'memory', ground: null }),
      threads: Math.min(2, availableParallelism()),
      next: () => (left-- > 0 ? { index: left, request } : null),
      done: (_index, ran) => heard.push(ran.kind === 'result' ? ran.result.traceHash : ran.kind),
    })
    expect(heard).toEqual([traceHash, traceHash, traceHash, traceHash])
  })
})

const briefWork: Scenario['workload'] = (draw) => mixedWork(3, 20_000, draw)
const shortWork: Scenario['workload'] = (draw) => mixedWork(10, 60_000, draw)

test('the stacks of what handlers throw are no part of the trace: they differ from machine to machine', async () => {
  let runs = 0
  const fails = defineJob({
    name: 'fails',
    retry: { maxAttempts: 2 },
    run: () => {
      throw Object.assign(new Error('each time'), { stack: `at line ${runs} of a file that moves` })
    },
  })
  const steps = [{ atMs: 0, job: fails, input: null, options: { id: 'a' } }]
  const scenario = { ...standard, activeMs: 60_000, jobs: [fails], workload: () => steps }
  const hashes = new Set<string>()
  for (; runs < 2; runs++) hashes.add((await play({ scenario, seed })).traceHash)
  expect([...hashes]).toHaveLength(1)
})

test('300 seeds have 300 traces', async () => {
  const hashes = new Set<string>()
  const verdicts = new Set<string>()
  const small = { ...standard, activeMs: 60_000, workload: shortWork }
  for (let k = 0n; k < 300n; k++) {
    const { traceHash, verdict } = await play({ scenario: small, seed: k })
    hashes.add(traceHash)
    verdicts.add(verdict)
  }
  expect(hashes.size).toBe(300)
  expect([...verdicts]).toEqual(['pass'])
})

describe('streams are apart (B02)', () => {
  test('a fault that is gone moves no draw of the workload or of any other', async () => {
    const whole = await play({ scenario: standard, seed, keepDraws: true })
    expect(whole.plan.length).toBeGreaterThan(1)
    const less = await play({ scenario: standard, seed, plan: whole.plan.slice(1), keepDraws: true })
    expect(less.traceHash).not.toBe(whole.traceHash)
    const drawn = pairs(whole.draws)
    const others = pairs(less.draws)
    const common = [...others.keys()].filter((key) => drawn.has(key))
    expect(common.length).toBeGreaterThan(0.5 * others.size)
    for (const key of common) expect(others.get(key)).toBe(drawn.get(key))
  })

  test('a family that is left out moves no fault of another', async () => {
    const { plan } = await play({ scenario: standard, seed })
    const family = plan[0]?.family ?? ''
    const kept = [...new Set(plan.map((fault) => fault.family))].filter((other) => other !== family)
    const less = await play({ scenario: standard, seed, families: kept })
    expect(less.plan).toEqual(plan.filter((fault) => fault.family !== family))
  })

  test('the plan of the seed, given as a plan, is the same run', async () => {
    const { plan, traceHash } = await play({ scenario: standard, seed })
    expect((await play({ scenario: standard, seed, plan })).traceHash).toBe(traceHash)
  })

  test('the choices of a run, given as a list, are the same run', async () => {
    const { plan, traceHash, draws } = await play({ scenario: standard, seed, keepDraws: true })
    const again = await play({ scenario: standard, seed: 999n, plan, draws: draws ?? [] })
    expect([again.verdict, again.traceHash]).toEqual(['pass', traceHash])
  })
})

test('the seed chooses the scenario, all of them in turn', async () => {
  const names: string[] = []
  for (let k = 0; k < scenarios.length; k++) {
    const asked = { ...request, seed: formatSeed(BigInt(k)), scenario: null, families: [] }
    names.push((await judge(asked, scenarios, {})).scenario)
  }
  expect(names).toEqual(scenarios.map(({ name }) => name))
})

test('to run every seed twice and compare changes nothing of a seed that agrees', async () => {
  const once = await judge(request, scenarios, {})
  const twice = await judge({ ...request, verify: true }, scenarios, {})
  expect([twice.verdict, twice.traceHash]).toEqual(['pass', once.traceHash])
})

test('a run that no guard sees through, but that runs otherwise the second time, is told by its first difference', async () => {
  let runs = 0
  const moody = {
    ...standard,
    name: 'moody',
    // State of a module: what no guard on Node can see.
    workload: (draw: Parameters<typeof standard.workload>[0]) => standard.workload(draw).slice(runs++ % 2),
  }
  const result = await judge({ ...request, scenario: 'moody', verify: true }, [moody], {})
  expect(result.verdict).toBe('nondeterministic')
  expect(result.detail).toMatch(/two runs of this seed differ: event \d+ is \{.*\} \/ \{/)
})

function pairs(draws: readonly number[] | null): Map<number, number> {
  const map = new Map<number, number>()
  for (let k = 0; k < (draws ?? []).length; k += 2) map.set(draws?.[k] ?? 0, draws?.[k + 1] ?? 0)
  return map
}
