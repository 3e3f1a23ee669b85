// A directory that PGlite works in: one opener at a time, a dead one's lock taken over, what was answered there after a
// kill, and no call that waits for itself for ever (S14).
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { type Processes, systemProcesses } from '../../src/engine/system.ts'
import { StoreInUse, pgliteStore } from '../../src/stores/pglite/index.ts'
import { lock } from '../../src/stores/pglite/lock.ts'
import { failure } from '../support/bench.ts'
import { inserting } from '../support/inserting.ts'
import { type Program, start } from '../support/processes.ts'

const patienceMs = 120_000

const place = mkdtempSync(path.join(tmpdir(), 'holdfast-pglite-'))
let directories = 0
const newDirectory = (): string => path.join(place, 'deep', `${++directories}`)
const open: InspectableStore[] = []
const started: Program[] = []

afterEach(async () => {
  for (const { process } of started.splice(0)) process.kill('SIGKILL')
  await Promise.all(open.splice(0).map((store) => store.close()))
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

function opened(dataDir: string): InspectableStore {
  const store = pgliteStore({ dataDir }, { callMs: 30_000 })
  open.push(store)
  return store
}

function program(name: string, directory: string): Program {
  const running = start(new URL(`pglite/${name}.mjs`, import.meta.url), directory)
  started.push(running)
  return running
}

/** What opening throws. */
function refusal(dataDir: string): unknown {
  try {
    opened(dataDir)
  } catch (error) {
    return error
  }
  return 'it was opened'
}

describe('a second opener', () => {
  test(
    'is refused with the process that has it, here and elsewhere, by whatever name, until that closes it',
    async () => {
      const directory = newDirectory()
      const store = opened(directory)
      const again = refusal(directory)
      expect(again).toBeInstanceOf(StoreInUse)
      expect(again).toMatchObject({ code: 'STORE_IN_USE', pid: process.pid })
      expect(String(again)).toContain(`is open in this process (${process.pid}): share its store`)
      const alias = path.join(place, 'alias')
      symlinkSync(directory, alias)
      expect(refusal(alias)).toBeInstanceOf(StoreInUse)
      const other = program('locker', directory)
      await other.heard('ready')
      other.process.send('try')
      expect(await other.heard('try')).toMatchObject({ holder: process.pid })

      await store.migrate()
      await store.jobs.insert(inserting('a'))
      await Promise.all([store.close(), store.close()])
      await expect(store.now()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
      const next = opened(directory)
      expect(await next.jobs.get({ id: 'a' })).toMatchObject({ state: 'queued' })
    },
    patienceMs,
  )

  test(
    'of many that find a dead holder one gets it, time and again',
    async () => {
      const directory = newDirectory()
      const all = Array.from({ length: 6 }, () => program('locker', directory))
      await Promise.all(all.map((each) => each.heard('ready')))
      for (let left = all; left.length > 1; ) {
        const round = `of ${left.length}`
        for (const { process } of left) process.send(round)
        const said = await Promise.all(left.map((each) => each.heard(round)))
        const holders = new Set(said.map(({ holder }) => holder))
        expect(holders.size).toBe(1)
        const winner = left.find(({ process }) => holders.has(process.pid))
        winner?.process.kill('SIGKILL')
        expect(await winner?.ended()).toBe('SIGKILL')
        left = left.filter((each) => each !== winner)
      }
      expect(readdirSync(path.join(directory, 'holdfast.lock'))).toEqual(['5'])
    },
    patienceMs,
  )
})

describe('a lock', () => {
  /** Processes of a machine that exists here alone: by id, when they began. */
  function machine(host: string, pid: number, births: Readonly<Record<number, string>>): Processes {
    return { host, pid, birthOf: (of) => births[of] ?? null }
  }
  let ids = 0
  const newId = (): string => `${++ids}`

  test('of a process that is gone is taken over, also when its id is another process now', () => {
    const directory = newDirectory()
    lock(directory, machine('here', 7, { 7: 'monday' }), newId)
    expect(() => lock(directory, machine('here', 8, { 7: 'monday', 8: 'tuesday' }), newId)).toThrow(
      /is open in process 7$/,
    )
    const reused = machine('here', 8, { 7: 'tuesday', 8: 'tuesday' })
    expect(lock(directory, reused, newId)).toMatchObject({ directory })
    // Process 1 of a container is process 1 of the next.
    lock(directory, machine('here', 8, { 8: 'wednesday' }), newId)
  })

  test('of another machine is kept, and the refusal says what to remove', () => {
    const directory = newDirectory()
    lock(directory, machine('there', 7, { 7: 'monday' }), newId)
    expect(() => lock(directory, machine('here', 7, { 7: 'tuesday' }), newId)).toThrow(
      /process 7 of the machine there; if that has ended, remove .*holdfast\.lock$/,
    )
    rmSync(path.join(directory, 'holdfast.lock'), { recursive: true })
    lock(directory, machine('here', 7, { 7: 'tuesday' }), newId)
  })

  test('names real processes: this one lives, and one that has ended has no beginning', async () => {
    const birth = systemProcesses.birthOf(process.pid)
    expect(birth).toBeTruthy()
    expect(systemProcesses.birthOf(process.pid)).toBe(birth)
    const other = program('locker', newDirectory())
    await other.heard('ready')
    const pid = other.process.pid ?? 0
    expect(systemProcesses.birthOf(pid)).toBeTruthy()
    other.process.kill('SIGKILL')
    await other.ended()
    expect(systemProcesses.birthOf(pid)).toBe(null)
  })
})

test(
  'killed in the middle of writes: it is opened by the next, and what was answered is there',
  async () => {
    const directory = newDirectory()
    for (const enough of [40, 80]) {
      const writer = program('writer', directory)
      await expect.poll(() => writer.messages.length, { timeout: patienceMs }).toBeGreaterThan(enough)
      writer.process.kill('SIGKILL')
      expect(await writer.ended()).toBe('SIGKILL')
      const store = opened(directory)
      await store.migrate()
      for (const { id } of writer.messages) {
        expect(await store.jobs.get({ id: String(id) })).toMatchObject({ state: 'queued', version: 1 })
      }
      await store.close()
    }
  },
  patienceMs,
)

test('what is no directory, or no database, is refused by type', async () => {
  for (const dataDir of ['', 'memory://', 'idb://x', 7, null]) {
    expect(() => pgliteStore({ dataDir } as never)).toThrow(/dataDir must be the path of a directory/)
  }
  const file = path.join(place, 'file')
  writeFileSync(file, '')
  expect(refusal(file)).toMatchObject({ code: 'INVALID_CONFIG' })
  const directory = newDirectory()
  mkdirSync(directory, { recursive: true })
  writeFileSync(path.join(directory, 'PG_VERSION'), 'nonsense')
  const store = opened(directory)
  await expect(store.migrate()).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  await store.close()
  expect(() => lock(directory, systemProcesses, () => 'x')).not.toThrow()
})

describe('a call from within a transaction that waits for it', () => {
  const work = async (store: InspectableStore): Promise<unknown> => failure(store.jobs.get({ id: 'a' }))

  test(
    'ends, and so does the transaction, in a commit and in a transaction of the caller',
    async () => {
      const database = await PGlite.create()
      const store = pgliteStore({ database }, { callMs: 1_000 })
      await store.migrate()
      await store.jobs.insert(inserting('a'))
      const nested = await database.transaction(() => work(store))
      expect(nested).toBeInstanceOf(StoreUnavailable)
      expect(String(nested)).toContain('jobs.get did not answer within 1000 ms')

      const queues = [{ queue: 'q', limit: 1 }]
      const params = { token: 't', worker: 'w', limit: 1, queues, kinds: ['k'], solo: 'pass' } as const
      expect(await store.claims.claim(params)).toMatchObject({ jobs: [{ epoch: 1 }] })
      const inside: unknown[] = []
      const commit = store.commits?.transact({
        id: 'a',
        epoch: 1,
        work: async () => {
          inside.push(await work(store))
          return { result: null }
        },
      })
      // The transaction is bounded like the call in it: which of them is heard of first is all one.
      await commit?.catch(() => {})
      await expect.poll(() => inside.length).toBe(1)
      expect(inside[0]).toBeInstanceOf(StoreUnavailable)
      expect(await store.jobs.get({ id: 'a' })).toMatchObject({ version: expect.any(Number) })
      await database.close()
    },
    patienceMs,
  )
})
