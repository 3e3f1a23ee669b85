// The SQLite store keeps every promise of the port: bare in memory, on a file through `resilient`, and on a
// file that is shared and runs on real time.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, test } from 'vitest'
import type { Clock } from '../../src/engine/ports/clock.ts'
import { type OpenStore, storeConformance } from '../../src/stores/conformance/index.ts'
import { rawSqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'
import { unlease } from '../support/unlease.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-sqlite-'))
let files = 0
const newFile = (): string => path.join(directory, `${++files}.db`)

async function openRaw(): Promise<OpenStore> {
  let nowMs = 1_760_000_000_000
  const store = rawSqliteStore({ nowMs: () => nowMs })
  const time = { advance: (ms: number) => void (nowMs += ms) }
  return { store, time, unlease: (token) => unlease(store, token), dispose: () => store.close() }
}

/** Its timers never fire: on a file of its own no call has anything to wait for. */
async function openFile(): Promise<OpenStore> {
  let nowMs = 1_760_000_000_000
  const clock: Clock = {
    monotonicMs: () => nowMs,
    wallMs: () => nowMs,
    timer: () => ({ cancel: () => {} }),
  }
  const store = sqliteStore({ file: newFile() }, { clock, synchronous: 'normal' })
  await store.migrate()
  const time = { advance: (ms: number) => void (nowMs += ms) }
  return { store, time, unlease: (token) => unlease(store, token), dispose: () => store.close() }
}

storeConformance({ describe, test }, { name: 'sqlite in memory', open: openRaw })

storeConformance({ describe, test }, { name: 'sqlite on a file, through resilient', open: openFile })

const shared = sqliteStore({ file: newFile() }, { synchronous: 'normal' })
const ready = shared.migrate()
const { dump: _dump, snapshot: _snapshot, restore: _restore, reset: _reset, ...opaque } = shared

storeConformance(
  { describe, test },
  {
    name: 'sqlite, shared and in real time',
    open: async () => {
      await ready
      return { store: opaque, time: null, unlease: (token) => unlease(shared, token), dispose: () => {} }
    },
  },
)

afterAll(async () => {
  await shared.close()
  rmSync(directory, { recursive: true, force: true })
})
