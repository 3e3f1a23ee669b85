// The memory store answers and holds what a naive model says, over random sequences of calls.
import { expect, test } from 'vitest'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'
import { unlease } from '../support/unlease.ts'
import { assertLikeModel } from './model/run.ts'

test('600 random sequences agree with the model, and reach all that is worth seeing', async () => {
  const seen = await assertLikeModel({
    seed: 20_260_914,
    runs: 600,
    open: async () => {
      let nowMs = 1_760_000_000_000
      const store = rawMemoryStore({ nowMs: () => nowMs })
      const time = { advance: (ms: number) => void (nowMs += ms) }
      return { store, time, unlease: (token) => unlease(store, token), dispose: () => {} }
    },
  })
  expect([...seen].filter(([, times]) => times === 0)).toEqual([])
}, 120_000)
