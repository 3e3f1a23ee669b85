import { describe, expect, test } from 'vitest'
import { Diverged } from '../../../src/sim/chooser.ts'
import { deviationsAt, messageOf } from '../../../src/sim/explore/deviations.ts'
import { nap } from '../../../src/sim/explore/topologies/common.ts'
import type { Deviation, FaultOption, Topology } from '../../../src/sim/explore/topology.ts'
import { type Walk, walk } from '../../../src/sim/explore/walk.ts'
import type { Step } from '../../../src/sim/recorder.ts'
import type { World } from '../../../src/sim/world.ts'
import { small } from './support.ts'

type Line = NonNullable<Walk['recorder']['story']>[number]

/** Walks by the default, but for the first deviation that `picks` wants, of those that there are. */
async function deviating(
  topology: Topology,
  picks: (deviation: Deviation, world: World) => boolean,
): Promise<{ walked: Walk; story: readonly Line[]; taken: Deviation | null }> {
  let world: World | null = null
  let taken: Deviation | null = null
  const walked = await walk({
    topology,
    keepStory: true,
    begun: (begun) => (world = begun),
    choose: (step) => {
      const now = world as unknown as World
      const wanted = deviationsAt(now, topology, step).find((one) => !taken && picks(one, now))
      taken ??= wanted ?? null
      return wanted ?? null
    },
  })
  return { walked, story: walked.recorder.story ?? [], taken }
}

/** The steps of one call, each with its time. */
function stepsOf(story: readonly Line[], call: string): string[] {
  return story.flatMap((line) =>
    'step' in line && line.label === call ? [`${line.step}${outcomeOf(line)} ${line.atMs}`] : [],
  )
}

function outcomeOf({ outcome }: Step): string {
  return outcome === '' ? '' : ` ${outcome}`
}

function timeOf(story: readonly Line[], type: string): number | null {
  return story.find((line) => 'type' in line && line.type === type)?.atMs ?? null
}

/** The first claim is sent at 90 ms, lands at 100 and is answered at 110. */
const claim = { calls: ['claims.claim'] }

async function faulted(option: FaultOption): Promise<readonly Line[]> {
  const { walked, story } = await deviating(small({ faults: [option] }), ({ what }) => what === 'fault')
  expect(walked.stop).toBe(null)
  return story
}

describe('a fault strikes', () => {
  test('nobody in the default schedule', async () => {
    const { story } = await deviating(small(), () => false)
    expect(stepsOf(story, 'claims.claim').slice(0, 3)).toEqual([
      'request 90',
      'execution 100',
      'reply ok 110',
    ])
    expect(story.some((line) => 'type' in line && line.type === 'fault.struck')).toBe(false)
  })

  test('a request, which is lost', async () => {
    const story = await faulted({ family: 'lost-request', ...claim })
    expect(stepsOf(story, 'claims.claim').slice(0, 2)).toEqual(['request 90', 'request 5110'])
    expect(stepsOf(story, 'claims.recover')).toEqual(['request 5090', 'execution 5100', 'reply ok 5110'])
  })

  test('a reply, which is lost', async () => {
    const story = await faulted({ family: 'lost-reply', ...claim })
    expect(stepsOf(story, 'claims.claim').slice(0, 2)).toEqual(['request 90', 'execution 100'])
    expect(stepsOf(story, 'claims.recover')[0]).toBe('request 5090')
  })

  test('a request, which is late', async () => {
    const story = await faulted({ family: 'late-request', forMs: 2_000, ...claim })
    expect(stepsOf(story, 'claims.claim').slice(0, 3)).toEqual([
      'request 90',
      'execution 2100',
      'reply ok 2110',
    ])
  })

  test('a reply, which is late', async () => {
    const story = await faulted({ family: 'slow-reply', forMs: 2_000, ...claim })
    expect(stepsOf(story, 'claims.claim').slice(0, 3)).toEqual([
      'request 90',
      'execution 100',
      'reply ok 2110',
    ])
  })

  test('a process, which stands still just before an input', async () => {
    const story = await faulted({ family: 'pause', forMs: 2_000, ...claim })
    expect(stepsOf(story, 'claims.claim').slice(0, 3)).toEqual([
      'request 90',
      'execution 100',
      'reply ok 2110',
    ])
    expect(timeOf(story, 'node.resumed')).toBe(2_110)
  })

  test('a process, which crashes just before an input, and starts again', async () => {
    const story = await faulted({ family: 'crash', forMs: 2_000, ...claim })
    expect(timeOf(story, 'node.crashed')).not.toBe(null)
    expect(stepsOf(story, 'claims.claim').slice(0, 3)).toEqual([
      'request 90',
      'execution 100',
      'request 2130',
    ])
  })

  test('a process, which is asked to stop, and starts again', async () => {
    const story = await faulted({ family: 'shutdown', forMs: 2_000, ...claim })
    expect(timeOf(story, 'node.stopping')).toBe(100)
    expect(story.filter((line) => 'type' in line && line.type === 'node.started')).toHaveLength(3)
  })

  test('the database at a request, which lands or does not', async () => {
    for (const lands of [true, false]) {
      const story = await faulted({ family: 'database-restart', forMs: 500, lands, ...claim })
      expect(timeOf(story, 'database.down')).toBe(90)
      expect(timeOf(story, 'database.up')).toBe(590)
      expect(stepsOf(story, 'claims.claim')[1]).toBe(lands ? 'execution 90' : 'reply reset 110')
    }
  })

  test('by the hand of an operator, at a request', async () => {
    const order = { command: 'cancel', job: 'j1' } as const
    const work = [{ atMs: 0, job: nap, input: { forMs: 12_000 }, options: { id: 'j1' } }]
    const topology = small({ work, faults: [{ family: 'operator', order, ...claim }] })
    const { story } = await deviating(topology, ({ what }) => what === 'fault')
    expect(stepsOf(story, 'jobs.requestCancel')[0]).toBe('request 100')
    expect(timeOf(story, 'attempt.cancelling')).toBe(10_110)
  })

  test('only the calls and machines that it is for', async () => {
    const faults: FaultOption[] = [
      { family: 'lost-reply', calls: ['claims.claim'], nodes: ['w2'] },
      { family: 'crash', nodes: ['w2'] },
    ]
    const struck = new Set<string>()
    await deviating(small({ workers: 2, faults }), (deviation, world) => {
      const next = world.next()
      if (deviation.what === 'swap' || !next) return false
      const { family } = deviation.fault
      const message = messageOf(next)
      const who = next.owner?.node.name
      struck.add(`${family} ${who}${family === 'lost-reply' ? ` ${message?.what} ${message?.call}` : ''}`)
      return false
    })
    expect([...struck].toSorted()).toEqual(['crash w2', 'lost-reply w2 reply claims.claim'])
  })

  test('no producer, and no process that stands still or stops', async () => {
    const faults: FaultOption[] = [{ family: 'pause', forMs: 2_000 }]
    let asked = 0
    await deviating(small({ faults }), (deviation, world) => {
      if (deviation.what === 'swap') return false
      const owner = world.next()?.owner
      expect([owner?.node.works, owner?.paused, owner?.stopping]).toEqual([true, false, false])
      asked += 1
      // What is picked is picked once.
      return true
    })
    expect(asked).toBe(1)
    await deviating(small({ faults }), () => void (asked += 1) as never)
    expect(asked).toBeGreaterThan(10)
  })
})

describe('events of one instant', () => {
  test('can go first, each of them', async () => {
    const { story, taken } = await deviating(small(), (one, world) => {
      const next = world.next()
      return one.what === 'swap' && next !== undefined && messageOf(next)?.call === 'claims.claim'
    })
    expect(taken).toMatchObject({ what: 'swap', nth: 1 })
    const lines = story.flatMap((line) => ('step' in line && line.step === 'execution' ? [line.label] : []))
    expect(lines.indexOf('watch.move')).toBeLessThan(lines.indexOf('claims.claim'))
  })

  test('are not offered where there is but one', async () => {
    const { walked, taken } = await deviating(
      small(),
      (one, world) =>
        one.what === 'swap' &&
        world.ahead.filter(({ atMs, live }) => live && atMs === world.next()?.atMs).length < 2,
    )
    expect([walked.stop, taken]).toEqual([null, null])
  })
})

test.each<[string, Deviation]>([
  ['a swap', { step: 3, what: 'swap', nth: 40 }],
  [
    'a fault of a message that is not next',
    {
      step: 3,
      what: 'fault',
      fault: { id: 'f', family: 'lost-reply', atMs: 0, node: 'w1', call: 'jobs.settle' },
      order: null,
    },
  ],
])('%s that cannot be had is no schedule of this code', async (_, deviation) => {
  const { stop } = await walk({
    topology: small(),
    choose: (step) => (step === deviation.step ? deviation : null),
  })
  expect(stop?.kind === 'failure' && stop.error).toBeInstanceOf(Diverged)
})
