import { describe, expect, test } from 'vitest'
import type { Fault } from '../../../src/sim/faults/fault.ts'
import { jobsOf, play, scenario } from '../support.ts'

const stop = (over: Partial<Fault>): Fault => ({
  id: 'shutdown #1',
  family: 'shutdown',
  atMs: 20_000,
  node: 'w1',
  drainMs: 8_000,
  forMs: 1_000,
  ...over,
})

/** What happened to the process that was stopped, and when. */
async function stopped(fault: Fault) {
  const busy = jobsOf(40, async ({ sleep }) => sleep(9_000))
  const { verdict, story, strikes } = await play({
    scenario: scenario({ ...busy, workers: 1, concurrency: 2 }),
    plan: [fault],
    keepStory: true,
  })
  const lines = (story ?? []).filter(({ node, incarnation }) => node === 'w1' && incarnation === 1)
  const atMsOf = (type: string): number[] =>
    lines.flatMap((line) => (!('step' in line) && line.type === type ? [line.atMs] : []))
  const claims = lines.filter((line) => 'step' in line && line.label === 'claims.claim')
  return {
    verdict,
    strikes,
    claims,
    stoppingAtMs: atMsOf('node.stopping'),
    endedAtMs: atMsOf('engine.stopped'),
  }
}

describe('a process that is asked to stop', () => {
  test('twice, stops once: the second time changes nothing', async () => {
    const [once, twice] = [await stopped(stop({})), await stopped(stop({ againMs: 1_000 }))]
    expect([once.verdict, twice.verdict]).toEqual(['pass', 'pass'])
    expect(twice.stoppingAtMs).toEqual([20_000])
    expect(twice.endedAtMs).toEqual(once.endedAtMs)
    expect(twice.endedAtMs).toHaveLength(1)
  })

  test('over a claim, is asked while that claim is in flight, and charges nothing for it', async () => {
    const { verdict, strikes, claims, stoppingAtMs } = await stopped(stop({ call: 'claims.claim' }))
    expect([verdict, strikes['shutdown']]).toEqual(['pass', 1])
    const [atMs = -1] = stoppingAtMs
    const sent = claims.filter((line) => 'step' in line && line.step === 'request' && line.atMs <= atMs)
    const heard = claims.filter((line) => 'step' in line && line.step === 'reply' && line.atMs <= atMs)
    expect(sent.length).toBe(heard.length + 1)
    expect(sent.at(-1)?.atMs).toBe(atMs)
  })
})
