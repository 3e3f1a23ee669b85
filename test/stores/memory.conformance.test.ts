// The memory store, bare and through `resilient`, keeps every promise of the port; so does it on real time.
import { describe, test } from 'vitest'
import type { Clock } from '../../src/engine/ports/clock.ts'
import type { InspectableStore } from '../../src/engine/ports/store.ts'
import { systemClock } from '../../src/engine/system.ts'
import { type OpenStore, storeConformance } from '../../src/stores/conformance/index.ts'
import { memoryStore, rawMemoryStore } from '../../src/stores/memory/index.ts'
import { unlease } from '../support/unlease.ts'

const dispose = (): void => {}

function controlled(make: (time: { nowMs(): number }) => InspectableStore): () => Promise<OpenStore> {
  return async () => {
    let nowMs = 1_760_000_000_000
    const store = make({ nowMs: () => nowMs })
    const time = { advance: (ms: number) => void (nowMs += ms) }
    return { store, time, unlease: (token) => unlease(store, token), dispose }
  }
}

/** Its timers never fire: a call of the memory store has nothing to wait for. */
function clockAt(time: { nowMs(): number }): Clock {
  const nowMs = (): number => time.nowMs()
  return { monotonicMs: nowMs, wallMs: nowMs, timer: () => ({ cancel: () => {} }) }
}

storeConformance({ describe, test }, { name: 'memory', open: controlled(rawMemoryStore) })

storeConformance(
  { describe, test },
  { name: 'memory through resilient', open: controlled((time) => memoryStore({ clock: clockAt(time) })) },
)

// One store for all cases, on real time: what a shared database looks like to the suite.
const shared = rawMemoryStore({ nowMs: () => systemClock.wallMs() })
const { dump: _dump, snapshot: _snapshot, restore: _restore, reset: _reset, ...opaque } = shared

storeConformance(
  { describe, test },
  {
    name: 'memory, shared and in real time',
    open: async () => ({ store: opaque, time: null, unlease: (token) => unlease(shared, token), dispose }),
  },
)
