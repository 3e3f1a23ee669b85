import { describe, expect, test } from 'vitest'
import { defineJob } from '../../src/engine/jobs/definition.ts'
import { play, scenario } from './support.ts'

const job = defineJob<unknown>({ name: 'job', run: () => {} })
const good = { atMs: 0, job, input: 1, options: { id: 'good' } }

describe('a workload that cannot be run is told by its step, in one line', () => {
  test.each<[string, unknown, RegExp]>([
    ['no list', 5, /workload of scenario .* must answer a list of steps, not 5/],
    ['a promise', Promise.resolve([]), /must answer a list of steps, not an object/],
    ['a step that is none', [good, undefined], /step 1: must be an object, not undefined/],
    ['a time of NaN', [{ ...good, atMs: Number.NaN }], /step 0: atMs must be .* not NaN/],
    ['a time before the start', [{ ...good, atMs: -1 }], /step 0: atMs must be .* not -1/],
    ['no time at all', [{ ...good, atMs: Number.POSITIVE_INFINITY }], /step 0: atMs must be .* not Infinity/],
    ['a time in text', [{ ...good, atMs: '5' }], /step 0: atMs must be .* not '5'/],
    [
      'a job by its name',
      [{ ...good, job: 'job' }],
      /step 0: job must be a definition made by defineJob, not 'job'/,
    ],
    ['no options', [{ ...good, options: undefined }], /step 0: options\.id must be .* not undefined/],
    ['no id', [good, { ...good, options: {} }], /step 1: options\.id must be .* not undefined/],
    ['an empty id', [{ ...good, options: { id: '' } }], /step 0: options\.id must be .* not ''/],
    ['one id twice', [good, { ...good }], /steps 0 and 1 both have the id 'good'/],
    [
      'an input without a JSON form',
      [{ ...good, input: 1n }],
      /id 'good' cannot be enqueued: InputInvalid: /,
    ],
    [
      'an option that cannot be',
      [{ ...good, options: { id: 'x', delayMs: -1 } }],
      /id 'x' cannot be enqueued: .*delayMs/,
    ],
  ])('%s', async (_what, steps, says) => {
    const result = await play({ scenario: scenario({ jobs: [job], workload: () => steps as never }) })
    expect(result.verdict).toBe('error')
    expect(result.detail).toMatch(says)
    expect(result.detail).not.toMatch(/\n/)
  })
})
