// The PostgreSQL store answers and holds what a naive model says, over random sequences of calls.
import { expect, test } from 'vitest'
import { movedServer } from '../support/postgres/moved.ts'
import { assertLikeModel } from './model/run.ts'

test('100 random sequences agree with the model, and reach all that is worth seeing', async () => {
  const server = await movedServer({ prepared: true })
  const seen = await assertLikeModel({ seed: 2, runs: 100, open: () => server.open() })
  await server.close()
  expect([...seen].filter(([, times]) => times === 0)).toEqual([])
}, 300_000)
