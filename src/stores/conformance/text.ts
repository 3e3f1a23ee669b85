import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, recoveryOf, shortMs } from './fixture.ts'
import { inputs, names } from './hostile.ts'

/** Claims, renews, and settles a job that hostile text is in, and finds all of it unchanged. */
async function assertSurvives(fixture: Fixture, input: string): Promise<void> {
  const { store, enqueue, newJob, name, worker, claim, settle, get } = fixture
  const [id, neighbour] = (await enqueue({ input }, {})) as [string, string]
  const again = await store.jobs.insert({ insertId: name('insert'), jobs: [newJob({ id, input })] })
  assert.deepEqual(again, { kind: 'inserted', jobs: [{ id, created: false }] })
  assert.equal((await get(id)).spec.input, input)
  const { jobs, token } = await claim()
  assert.deepEqual(
    jobs.map(({ spec }) => spec.input),
    [input, '{}'],
  )
  const recovered = await store.claims.recover({ token, worker })
  assert.deepEqual(recovered, recoveryOf(jobs))
  await settle(id, 1, { kind: 'succeeded', result: input })
  await settle(neighbour, 1, { kind: 'succeeded', result: null })
  const { result, state } = await get(id)
  assert.deepEqual([state, result], ['succeeded', input])
  assert.equal((await get(neighbour)).state, 'succeeded')
}

const roundTrips: readonly Case[] = Object.entries(inputs).map(([what, input]) => ({
  name: `an input and a result survive unchanged: ${what} (0.23, 1.6, X01)`,
  run: (fixture) => assertSurvives(fixture, input),
}))

export const textCases: readonly Case[] = [
  ...roundTrips,
  {
    name: 'ids that look alike are different jobs (1.7, S07)',
    run: async ({ enqueue, name, claim, get, store, settle, worker }) => {
      const base = name('job')
      const ids = names.map((end) => base + end)
      await enqueue(...ids.map((id) => ({ id, input: JSON.stringify(id) })))
      for (const id of ids) assert.equal((await get(id)).spec.input, JSON.stringify(id))
      const { token, ids: taken } = await claim()
      assert.deepEqual(taken, ids)
      const { held } = await store.claims.renew({ worker, tokens: [token] })
      assert.deepEqual(
        held,
        ids.map((id) => ({ id, epoch: 1, cancel: false })),
      )
      for (const id of ids) {
        const reply = await settle(id, 1, { kind: 'succeeded', result: JSON.stringify(id) })
        assert.equal(reply.settled, 'applied')
      }
      for (const id of ids) assert.equal((await get(id)).result, JSON.stringify(id))
    },
  },
  {
    name: 'queues and kinds that look alike are different, and no name is a pattern (0.7, 2.5, 27.80)',
    run: async ({ store, newJob, name, claim }) => {
      const [base, stem] = [name('queue'), name('kind')]
      const jobs = names.flatMap((end) => [
        newJob({ queue: base + end, kind: stem }),
        newJob({ queue: base, kind: stem + end }),
      ])
      await store.jobs.insert({ insertId: name('insert'), jobs })
      const take = async (queue: string, kind: string): Promise<readonly string[]> =>
        (await claim({ queues: [{ queue, limit: 99 }], kinds: [kind] })).ids
      for (const [n, end] of names.entries()) {
        assert.deepEqual(await take(base + end, stem), [jobs[2 * n]?.spec.id])
        assert.deepEqual(await take(base, stem + end), [jobs[2 * n + 1]?.spec.id])
      }
    },
  },
  {
    name: 'tokens and workers that look alike are different (0.10, 0.13)',
    run: async ({ store, enqueueOne, claim, name }) => {
      const [base, stem] = [name('token'), name('worker')]
      const held: unknown[] = []
      for (const end of names) {
        const id = await enqueueOne()
        await claim({ token: base + end, worker: stem + end })
        held.push([{ id, epoch: 1, cancel: false }])
      }
      for (const [n, end] of names.entries()) {
        const tokens = names.map((other) => base + other)
        assert.deepEqual((await store.claims.renew({ worker: stem + end, tokens })).held, held[n])
      }
    },
  },
  {
    name: 'names of 512 characters, of any width (1.7)',
    run: async ({ enqueue, name, claim, get }) => {
      const long = (what: string, fill: string): string => {
        const start = name(what)
        return start + fill.repeat(512).slice(0, 512 - start.length)
      }
      const fills = ['x', '€', '\uFFFD']
      for (const fill of fills) {
        const [id, other] = [long('job', fill), `${long('job', fill).slice(0, -1)}y`]
        const [queue, kind] = [long('queue', fill), long('kind', fill)]
        await enqueue({ id, queue, kind }, { id: other, queue, kind })
        const { ids } = await claim({
          queues: [{ queue, limit: 9 }],
          kinds: [kind],
          worker: long('worker', fill),
        })
        assert.deepEqual(ids, [id, other])
        assert.equal((await get(id)).spec.id.length, 512)
      }
    },
  },
  {
    name: 'the code and message of an error survive unchanged (X01)',
    run: async ({ start, settle, get, claim }) => {
      const { id } = await start({ maxAttempts: 1_000 })
      const long = `${'\uFFFD😀'.repeat(2_700)} ... (truncated)`
      const messages = ['', ...names, long, `'; drop table jobs; -- $1 ? \\u0000 \\0 </script> \u001B[31m`]
      for (const [n, message] of messages.entries()) {
        const error = { code: `E ${message.slice(0, 20).toWellFormed()}`, message }
        await settle(id, n + 1, { kind: 'failed', error, permanent: false, delayMs: 0 })
        assert.deepEqual((await get(id)).error, error)
        await claim()
      }
      const error = { code: '__proto__', message: long }
      await settle(id, messages.length + 1, { kind: 'failed', error, permanent: true, delayMs: 0 })
      assert.deepEqual((await get(id)).error, error)
    },
  },
  {
    name: 'an error is kept with its stack, or none, and with what another release put into it (0.19, X01)',
    run: async ({ start, settle, get, claim, seen, reclaim, store }) => {
      const { id } = await start({ maxAttempts: 1_000, leaseTtlMs: shortMs })
      const stack = `Error: \uFFFD\n    at f (a.ts:1:1)\n    at '; -- $1 ? \\u0000 😀 ... (truncated)`
      const errors = [
        { code: 'E', message: 'm', stack },
        { code: 'E', message: 'm' },
        { code: 'E', message: 'm', stack: '' },
        { code: 'E', message: 'm', stack, hint: { deep: [null, { at: '1' }] } },
      ]
      for (const [n, error] of errors.entries()) {
        await settle(id, n + 1, { kind: 'failed', error, permanent: false, delayMs: 0 })
        assert.deepEqual((await get(id)).error, error)
        await claim()
      }
      // A cancel of the running job rewrites its row.
      await store.jobs.requestCancel({ id })
      assert.deepEqual((await get(id)).error, errors.at(-1))
      await seen(shortMs)
      await reclaim()
      assert.deepEqual((await get(id)).error, { code: 'LEASE_LOST', message: 'lease lost x1' })
    },
  },
  {
    name: 'the content is dumped in the order of UTF-8 bytes (1.7)',
    needs: 'content',
    run: async ({ inspectable, enqueue, name, claim }) => {
      const [base, stem] = [name('job'), name('token')]
      const ends = ['b', 'a', 'B', '10', '9', 'é', 'e\u0301', '\uFFFD', '😀', '日', '~', '\u0001', '']
      const inOrder = ['', '\u0001', '10', '9', 'B', 'a', 'b', 'e\u0301', '~', 'é', '日', '\uFFFD', '😀']
      for (const end of ends) {
        await enqueue({ id: base + end })
        await claim({ token: stem + end })
      }
      const { jobs, claims, leases } = await inspectable().dump()
      const from = (texts: readonly string[], start: string): string[] =>
        texts.filter((text) => text.startsWith(start)).map((text) => text.slice(start.length))
      assert.deepEqual(
        from(
          jobs.map(({ spec }) => spec.id),
          base,
        ),
        inOrder,
      )
      assert.deepEqual(
        from(
          claims.map(({ token }) => token),
          stem,
        ),
        inOrder,
      )
      assert.deepEqual(
        from(
          leases.map(({ token }) => token),
          stem,
        ),
        inOrder,
      )
    },
  },
]
