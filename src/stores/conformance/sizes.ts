import assert from 'node:assert/strict'
import type { Case } from './case.ts'

const emoji = '\u{1F6A8}'
/** A JSON text of so many bytes. */
const ofBytes = (bytes: number): string => (bytes === 1 ? '1' : `"${'x'.repeat(bytes - 2)}"`)

/** Around the 8000 bytes of a notification, and the most that an engine lets through. */
const inputs: Readonly<Record<string, string>> = {
  '1 byte': ofBytes(1),
  '7,999 bytes': ofBytes(7_999),
  '8,000 bytes': ofBytes(8_000),
  '1 MiB': ofBytes(1_048_576),
  '2,000 characters of 4 bytes': JSON.stringify(emoji.repeat(2_000)),
}

/** Around the 63 bytes of an identifier, and the most that an engine lets through. */
const queues: readonly string[] = [63, 64, 255, 512].flatMap((length) => [
  'q'.repeat(length),
  '\u00E4'.repeat(length),
  emoji.repeat(Math.floor(length / 2)),
])

export const sizeCases: readonly Case[] = [
  {
    name: 'an input of any size is enqueued, claimed and answered, whatever its queue is called (S10)',
    run: async ({ store, newJob, name, claim, get, settle }) => {
      for (const [n, [what, input]] of Object.entries(inputs).entries()) {
        const queue = queues[n] as string
        const kind = name('kind')
        const job = newJob({ queue, kind, input })
        const { id } = job.spec
        const reply = await store.jobs.insert({ insertId: name('insert'), jobs: [job] })
        assert.deepEqual(reply, { kind: 'inserted', jobs: [{ id, created: true }] }, what)
        const { jobs } = await claim({ queues: [{ queue, limit: 9 }], kinds: [kind] })
        assert.deepEqual(
          jobs.map(({ spec }) => [spec.id, spec.input === input]),
          [[id, true]],
          what,
        )
        await settle(id, 1, { kind: 'succeeded', result: input })
        assert.ok((await get(id)).result === input, what)
      }
    },
  },
  {
    name: 'queues with long names are told apart by their last character, and sent back to (S10)',
    run: async ({ store, newJob, name, claim, settle, get }) => {
      const kind = name('kind')
      const pairs = queues.map(
        (queue) => [queue, `${queue.slice(0, queue.endsWith(emoji) ? -2 : -1)}!`] as const,
      )
      for (const pair of pairs) {
        const jobs = pair.map((queue) => newJob({ queue, kind }))
        await store.jobs.insert({ insertId: name('insert'), jobs })
        for (const [n, queue] of pair.entries()) {
          const id = jobs[n]?.spec.id as string
          const asked = { queues: [{ queue, limit: 9 }], kinds: [kind] }
          assert.deepEqual((await claim(asked)).ids, [id])
          await settle(id, 1, { kind: 'released', delayMs: 0 })
          assert.equal((await get(id)).spec.queue, queue)
          assert.deepEqual((await claim(asked)).ids, [id])
          await settle(id, 2, { kind: 'succeeded', result: null })
        }
        const asked = pair.map((queue) => ({ queue, oldestDueMs: null }))
        assert.deepEqual(await store.jobs.queueAges({ queues: pair }), asked)
      }
    },
  },
]
