// What a handler may ask of time inside a run, beyond what test/sim/driver.test.ts tries: all of it real, and flagged.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { jobsOf, play, scenario } from '../sim/support.ts'

const self = fileURLToPath(import.meta.url)

describe('B03: in a simulated handler', () => {
  test.each<[string, RegExp, () => unknown]>([
    [
      'a setImmediate that sets itself again',
      /setImmediate/,
      () => {
        const again = (): void => void setImmediate(again)
        again()
      },
    ],
    [
      'a setTimeout of 0 ms that sets itself again',
      /setTimeout/,
      () => {
        const again = (): void => void setTimeout(again, 0)
        again()
      },
    ],
    ['setInterval(0)', /setInterval/, () => void setInterval(() => {}, 0).unref()],
    ['a promise of the file system', /readFile/, () => readFile(self)],
    ['a worker thread', /Worker/, () => new Worker('', { eval: true }).unref()],
  ])('%s is a leak of the run, and no verdict on it', async (_what, leak, run) => {
    const result = await play({ scenario: scenario(jobsOf(1, async () => void (await run()))) })
    expect(result.verdict).toBe('nondeterministic')
    expect(result.detail).toMatch(leak)
    expect(result.detail).toContain('B03-virtual-time.test.ts')
  })

  test.each([1, 3, 100])(
    'of timers 10 ms apart, with %d awaits between, the second fires at 20',
    async (k) => {
      const firedMs: number[] = []
      let nowMs = 0
      const result = await play({
        scenario: scenario(
          jobsOf(1, async ({ sleep }) => {
            for (let timer = 0; timer < 2; timer++) {
              await sleep(10)
              nowMs += 10
              firedMs.push(nowMs)
              for (let n = 0; n < k; n++) await Promise.resolve()
            }
          }),
        ),
        keepStory: true,
      })
      const at = (type: string): number =>
        result.story?.find((line) => 'type' in line && line.type === type)?.atMs ?? Number.NaN
      expect(at('attempt.ended') - at('attempt.started')).toBe(20)
      expect(firedMs).toEqual([10, 20])
    },
  )
})
