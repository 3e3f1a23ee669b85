import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const runner = fileURLToPath(new URL('./run.mjs', import.meta.url))
const catalogue = fileURLToPath(new URL('./catalogue.json', import.meta.url))
const scratch = mkdtempSync(path.join(tmpdir(), 'holdfast-mutants-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Mutant {
  readonly id: string
  readonly origin: string
  readonly says: string
  readonly property: string | readonly string[]
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[]
  readonly seeds?: readonly string[]
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface Told {
  readonly mutants: readonly {
    readonly id: string
    readonly killed: boolean
    readonly property: string | null
    readonly seeds: number
    readonly wallMs: number
    readonly others: Readonly<Record<string, number>>
    readonly schedules: { readonly asked: boolean; readonly shown: object | null } | null
  }[]
  readonly survivors: readonly string[]
  readonly baseline: { readonly seeds: number; readonly failures: readonly string[] }
}

function run(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [runner, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, stdout, stderr })
    })
  })
}

/** Runs a catalogue of this one entry. */
function runOne(mutant: Mutant, ...args: string[]): Promise<Ended> {
  const file = path.join(scratch, `${mutant.id}.json`)
  writeFileSync(file, JSON.stringify([mutant]))
  return run('--catalogue', file, '--json', ...args)
}

function told({ stdout }: Ended): Told {
  return JSON.parse(stdout) as Told
}

const mutants = JSON.parse(readFileSync(catalogue, 'utf8')) as readonly Mutant[]
const known = (id: string): Mutant => mutants.find((mutant) => mutant.id === id) as Mutant

describe('the catalogue', () => {
  it('has at least two hundred bugs, and each is found by its property within the seeds known to kill it', async () => {
    // The hunt is the longest of all tests, and runs on one core: both halves go at once.
    const halves = [0, 1].map((half) => {
      const ids = mutants.filter((_mutant, k) => k % 2 === half).map(({ id }) => id)
      return run('--quick', '--json', '--only', ids.join(','))
    })
    const ended = await Promise.all(halves)
    const all = ended.map(told)
    const verdicts = all.flatMap(({ mutants }) => mutants)
    expect(verdicts.map(({ id }) => id).toSorted()).toEqual(mutants.map(({ id }) => id).toSorted())
    expect(verdicts.length).toBeGreaterThanOrEqual(200)
    expect(all.flatMap(({ survivors }) => survivors)).toEqual([])
    expect(verdicts.filter(({ killed }) => !killed)).toEqual([])
    expect(all.flatMap(({ baseline }) => baseline.failures)).toEqual([])
    expect(ended.map(({ code }) => code)).toEqual([0, 0])
  }, 900_000)
})

describe('the runner', () => {
  const seeds = ['0x1', '0x4']
  const edit = { file: 'src/engine/jobs/transitions.ts', find: '/** Takes a running job from a holder whose' }

  it('refuses an entry whose text is not there exactly once', async () => {
    const absent = {
      ...known('evictions-not-counted'),
      id: 'absent',
      edits: [{ ...edit, find: 'no such text', replace: '' }],
    }
    const ended = await runOne(absent)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('mutant absent is stale')
    const twice = { ...absent, id: 'twice', edits: [{ ...edit, find: 'nowMs', replace: '' }] }
    expect((await runOne(twice)).stderr).toContain('mutant twice is stale')
  })

  it('lets a mutant survive that changes only a comment, and fails', async () => {
    const harmless = {
      ...known('evictions-not-counted'),
      id: 'harmless',
      edits: [{ ...edit, replace: '/** Takes a job from a holder whose' }],
      seeds,
    }
    const ended = await runOne(harmless, '--quick')
    expect(ended.code).toBe(1)
    expect(told(ended)).toMatchObject({
      mutants: [{ id: 'harmless', killed: false, property: null, seeds: 2, others: {} }],
      survivors: ['harmless'],
    })
  })

  it('does not count a kill by another property than the one named', async () => {
    const mistaken = { ...known('evictions-charged-as-failures'), id: 'mistaken', property: 'fencing', seeds }
    const ended = await runOne(mistaken, '--quick')
    expect(ended.code).toBe(1)
    const [verdict] = told(ended).mutants
    expect(verdict).toMatchObject({ killed: false, property: null })
    expect(verdict?.others['exact-budgets']).toBeGreaterThan(0)
  })

  it('says at how many deviations schedules show a mutant, and of which no topology judges what it breaks', async () => {
    const shown = await runOne(known('settle-without-epoch-check'), '--quick', '--explore', '1')
    expect(told(shown).mutants[0]?.schedules).toMatchObject({
      asked: true,
      shown: { topology: 'standard', deviations: 1 },
    })
    const other = await runOne(known('progress-unfenced'), '--quick', '--explore', '1')
    expect(told(other).mutants[0]?.schedules).toEqual({ asked: false, shown: null })
    const harmless = {
      ...known('settle-without-epoch-check'),
      edits: [{ ...edit, replace: '/** Takes a job whose' }],
    }
    const survived = await runOne(harmless, '--quick', '--explore', '0')
    expect(told(survived).mutants[0]?.schedules).toEqual({ asked: true, shown: null })
    expect(await runOne(harmless, '--quick', '--explore', 'two')).toMatchObject({ code: 2, stdout: '' })
  }, 60_000)

  it('does not count a crash', async () => {
    const crashing = {
      ...known('evictions-not-counted'),
      id: 'crashing',
      edits: [
        {
          file: 'src/stores/memory/claims.ts',
          find: 'export function claim(',
          replace:
            "export function claim(): never {\n  throw new TypeError('no claim')\n}\nexport function unused(",
        },
      ],
      seeds: ['0x1'],
    }
    const ended = await runOne(crashing, '--quick')
    expect(ended.code).toBe(1)
    expect(told(ended).survivors).toEqual(['crashing'])
  })

  it('fails when nothing would be run', async () => {
    const empty = path.join(scratch, 'empty.json')
    writeFileSync(empty, '[]')
    expect(await run('--catalogue', empty)).toMatchObject({ code: 2 })
    expect(await run('--catalogue', path.join(scratch, 'none.json'))).toMatchObject({ code: 2 })
    const unknown = await run('--only', 'no-such-mutant')
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('no mutant "no-such-mutant"')
    const { seeds: _, ...seedless } = known('evictions-not-counted')
    expect((await runOne(seedless, '--quick')).stderr).toContain('lists no seeds')
    const foreign = {
      ...seedless,
      id: 'foreign',
      edits: [{ file: 'src/properties/fencing.ts', find: 'a', replace: '' }],
    }
    expect((await runOne(foreign)).stderr).toContain('not a source of the engine or a store')
  })
})
