// Several real processes of the built package on one SQLite file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Program, start } from './sqlite/processes.ts'
import { steps } from '../../src/stores/sqlite/schema.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-sqlite-'))
let files = 0
const newFile = (): string => path.join(directory, `${++files}.db`)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function read<T>(file: string, sql: string): T[] {
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare<[], T>(sql).all()
  } finally {
    db.close()
  }
}

test('ten processes that set up one empty file at once all start, twenty times over (S09)', async () => {
  const programs = Array.from({ length: 10 }, () => start('migrator.mjs'))
  await Promise.all(programs.map((program) => program.heard('ready')))
  for (let round = 0; round < 20; round++) {
    const file = newFile()
    const said = `set up ${path.basename(file)}`
    for (const { process } of programs) process.send({ file, said })
    await Promise.all(programs.map((program) => program.heard(said)))
    expect(read(file, 'select version from holdfast_schema')).toEqual(
      steps.map(({ version }) => ({ version })),
    )
  }
  for (const { process } of programs) process.disconnect()
  expect(await Promise.all(programs.map((program) => program.ended()))).toEqual(programs.map(() => 0))
}, 120_000)

test('a process killed in the middle of setting up leaves nothing in the way (S09)', async () => {
  const file = newFile()
  const victim = start('migrator.mjs')
  await victim.heard('ready')
  victim.process.send({ file, dies: true })
  expect(await victim.ended()).toBe('SIGKILL')
  const store = sqliteStore({ file })
  await expect(store.jobs.get({ id: 'a' })).rejects.toMatchObject({ code: 'STORE_SCHEMA' })
  await store.migrate()
  expect(await store.jobs.get({ id: 'a' })).toBe(null)
  await store.close()
})

test('killed in the middle of writes: what was answered is there, and the file is whole', async () => {
  const file = newFile()
  const writer = start('writer.mjs', file)
  await new Promise<void>((resolve) => {
    writer.process.on('message', () => {
      if (writer.messages.length >= 150) resolve()
    })
  })
  writer.process.kill('SIGKILL')
  expect(await writer.ended()).toBe('SIGKILL')
  const store = sqliteStore({ file })
  await store.migrate()
  expect(writer.messages.length).toBeGreaterThanOrEqual(150)
  const idsOf = (what: string): string[] =>
    writer.messages.filter(({ kind }) => kind === what).map(({ id }) => String(id))
  for (const id of idsOf('inserted')) expect((await store.jobs.get({ id }))?.spec.id).toBe(id)
  for (const id of idsOf('settled')) {
    const settled = { state: 'succeeded', result: JSON.stringify(id), attempt: 1 }
    expect(await store.jobs.get({ id })).toMatchObject(settled)
  }
  await store.close()
  expect(read(file, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
})

test('four processes run 500 jobs each while an outsider holds the lock for 3 s (S11)', async () => {
  const file = newFile()
  const workers = ['a', 'b', 'c', 'd'].map((name) => start('worker.mjs', file, name, '500'))
  await Promise.all(workers.map((worker) => worker.heard('ready')))
  const outsider = start('outsider.mjs', file, '3000')
  await outsider.heard('held')
  for (const { process } of workers) process.send('go')
  await confirmed(workers, 2_000)
  expect(outsider.messages.map(({ kind }) => kind)).toEqual(['held', 'released'])
  for (const { process } of workers) process.send('stop')
  const over = await Promise.all(workers.map((worker) => worker.heard('over')))
  expect(await Promise.all(workers.map((worker) => worker.ended()))).toEqual([0, 0, 0, 0])

  expect(over.map(({ failed }) => failed)).toEqual([0, 0, 0, 0])
  // Waiting inside the driver would block the event loop for all of the 3 s.
  for (const { blockedMs } of over) expect(blockedMs).toBeLessThan(2_000)
  const ran = workers.flatMap(({ messages }) => messages.filter(({ kind }) => kind === 'ran'))
  expect(ran.length).toBe(2_000)
  expect(new Set(ran.map(({ id }) => id)).size).toBe(2_000)
  expect(read(file, 'select state, attempt, count(*) as jobs from holdfast_job group by 1, 2')).toEqual([
    { state: 2, attempt: 1, jobs: 2_000 },
  ])
}, 120_000)

/** Resolves when so many settles were confirmed; rejects if a worker ends before. */
function confirmed(workers: readonly Program[], jobs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let count = 0
    for (const { process } of workers) {
      process.on('message', (message) => {
        if ((message as { kind: string }).kind !== 'confirmed') return
        count += 1
        if (count === jobs) resolve()
      })
      process.once('exit', (code) => reject(new Error(`a worker ended with ${code}`)))
    }
  })
}
