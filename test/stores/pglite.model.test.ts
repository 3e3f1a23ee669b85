// The PGlite store answers and holds what a naive model says, over random sequences of calls.
import { expect, test } from 'vitest'
import { movedPglite } from '../support/pglite.ts'
import { assertLikeModel } from './model/run.ts'

test('100 random sequences agree with the model, and reach all that is worth seeing', async () => {
  const database = await movedPglite()
  const seen = await assertLikeModel({ seed: 2, runs: 100, open: () => database.open() })
  await database.close()
  expect([...seen].filter(([, times]) => times === 0)).toEqual([])
}, 300_000)
