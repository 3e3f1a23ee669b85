// The PostgreSQL store answers and holds what a naive model says, over random sequences of calls.
import { expect, test } from 'vitest'
import { movedServer } from '../support/postgres/moved.ts'
import { assertLikeModel } from './model/run.ts'

test('40 random sequences agree with the model, and reach nearly all that is worth seeing', async () => {
  const server = await movedServer({ prepared: true })
  const seen = await assertLikeModel({ seed: 3, runs: 40, open: () => server.open() })
  await server.close()
  // That all is reached is shown where a sequence takes a hundredth of the time: on memory and SQLite.
  expect([...seen].filter(([, times]) => times === 0).length).toBeLessThan(seen.size / 8)
}, 300_000)
