// The PGlite store answers and holds what a naive model says, over random sequences of calls.
import { expect, test } from 'vitest'
import { movedPglite } from '../support/pglite.ts'
import { assertLikeModel } from './model/run.ts'

test('40 random sequences agree with the model, and reach nearly all that is worth seeing', async () => {
  const database = await movedPglite()
  const seen = await assertLikeModel({ seed: 3, runs: 40, open: () => database.open() })
  await database.close()
  // That all is reached is shown where a sequence takes a hundredth of the time: on memory and SQLite.
  expect([...seen].filter(([, times]) => times === 0).length).toBeLessThan(seen.size / 8)
}, 300_000)
