// Topologies of a user's own, explored in this process: one that holds, one that does not, and what is refused.
import { describe, expect, test } from 'vitest'
import { InvalidArgument } from '../../../src/engine/errors.ts'
import { type Handler, type HandledJob, defineJob } from '../../../src/engine/jobs/definition.ts'
import {
  type Property,
  convergence,
  exactlyOnceClaim,
  property,
  sometimesProperties,
} from '../../../src/properties/index.ts'
import {
  type Topology,
  type TopologyOptions,
  bench,
  explore,
  retrace,
  topology,
} from '../../../src/sim/index.ts'
import { explore as walkAll } from '../../../src/sim/explore/explore.ts'

interface Nap {
  readonly forMs: number
}

const napOf = (run: Handler<Nap, unknown>): HandledJob<Nap> => defineJob<Nap>({ name: 'nap', run })
const nap = napOf(({ input, sleep }) => sleep(input.forMs))

const startedOnce: Property = property({
  name: 'started-once',
  kind: 'always',
  says: 'No job is started twice.',
  blindSpot: 'Does not look at what a start has done.',
  on: ['attempt.started'],
  suspendedBy: [],
  start: (): Record<string, number> => ({}),
  step(starts, { job }, verdict) {
    verdict.evaluated()
    starts[job] = (starts[job] ?? 0) + 1
    if (starts[job] > 1) verdict.violated({ kind: 'twice', subject: job, message: `${job} starts twice` })
  },
})

/** What one worker does within 45 s with a nap of 3 s. */
function small(over: Partial<TopologyOptions> = {}, job: HandledJob<Nap> = nap): Topology {
  return topology({
    name: 'small',
    workers: 1,
    intervals: { pollMs: 7_000, pollMsMax: 7_000 },
    jobs: [job],
    work: [{ atMs: 0, job, input: { forMs: 3_000 }, options: { id: 'j1' } }],
    horizonMs: 12_000,
    faults: [
      { family: 'lost-reply', calls: ['claims.claim'] },
      { family: 'crash', forMs: 2_000 },
    ],
    ...over,
  })
}

describe('a topology', () => {
  test('that holds passes, with the sentence of what was proven, and the same counts each time', async () => {
    const found = await explore({ topology: small() })
    expect(found).toMatchObject({ verdict: 'pass', complete: true, found: null, failure: null, level: 1 })
    expect(found.bound).toBe(
      '1 worker, 1 job, 12 s, at most 1 deviation of {another order within an instant, lost-reply, crash (2 s)}',
    )
    expect(found.text).toContain('bounded-complete: small: 1 worker')
    expect(found.levels.map(({ deviations, runs }) => [deviations, runs > 0])).toEqual([
      [0, true],
      [1, true],
    ])
    const again = await explore({ topology: small() })
    expect(again.levels).toEqual(found.levels)
  })

  test('that does not hold has a counterexample with the fewest deviations, which can be traced again', async () => {
    // A crash in the middle of the nap: it is started again once its lease has lapsed.
    const bad = small({ horizonMs: 60_000, properties: [startedOnce] })
    const found = await explore({ topology: bad, deviations: 2 })
    expect(found).toMatchObject({ verdict: 'violated', complete: false, level: 1 })
    expect(found.failure).toMatchObject({
      kind: 'violated',
      property: 'started-once',
      message: 'j1 starts twice',
    })
    expect(found.failure?.deviations).toHaveLength(1)
    expect(found.failure?.deviations[0]).toMatch(/^\+[\d.]+s, step \d+: w1 dies just before .*after 2 s$/)
    expect(found.failure?.file).toMatchObject({ scenario: 'small', deviations: found.found?.deviations })

    const again = await retrace(bad, found.found?.deviations ?? [])
    expect(again).toMatchObject({ verdict: 'violated', violations: ['started-once: j1 starts twice'] })
    expect(again.story.some((line) => line.includes('FAULT crash'))).toBe(true)
    expect(await retrace(bad, [])).toMatchObject({ verdict: 'pass', violations: [], deviations: [] })
  })

  test('that no time was given for is inconclusive, and its levels tell what was not walked', async () => {
    const found = await explore({
      topology: small({ workers: 2, sweepers: 1, horizonMs: 60_000, deviations: 2 }),
      boundMs: 1,
    })
    expect(found).toMatchObject({ verdict: 'inconclusive', complete: false })
    const last = found.levels.at(-1)
    expect(last?.runs).toBeLessThan(last?.schedules ?? 0)
  })

  test('whose handler asks the real world is neither a pass nor a failure', async () => {
    const found = await explore({
      topology: small(
        {},
        napOf(() => Date.now()),
      ),
    })
    expect(found).toMatchObject({ verdict: 'nondeterministic', complete: false })
    expect(found.failure?.message).toMatch(/^Date\.now at .*explore\.test\.ts:\d+/)
  })

  test('is walked to the same states by whoever fills in its defaults', async () => {
    const { distinct, runs } = await explore({ topology: small() })
    expect(await walkAll({ topology: small(), statesMax: 2 ** 16, schedulesMax: 2 ** 12 })).toMatchObject({
      distinct,
      runs,
    })
  })
})

describe('a handler that does more than sleep once ends the exploration, which says what it did', () => {
  test.each<[string, Handler<Nap, unknown>, RegExp]>([
    ['reports progress', ({ progress }) => progress(1), /called progress/],
    ['keeps a checkpoint', ({ checkpoint }) => checkpoint('a', 1), /called checkpoint/],
    ['commits', ({ commit }) => commit(() => 1), /called commit/],
    ['reads its fence', ({ attempt }) => attempt.fence, /read its fence/],
    [
      'sleeps twice',
      async ({ sleep }) => {
        await sleep(1)
        await sleep(1)
      },
      /slept twice/,
    ],
    ['answers what looks like the name of a process', () => 'w1~1', /a text with a '~'/],
  ])('%s', async (_, run, says) => {
    await expect(explore({ topology: small({}, napOf(run)) })).rejects.toThrow(says)
    await expect(explore({ topology: small({}, napOf(run)) })).rejects.toBeInstanceOf(InvalidArgument)
  })

  test('and one that throws, returns at once, or looks at its attempt does not', async () => {
    const fails = napOf(async ({ sleep, attempt, job, signal }) => {
      await sleep(1_000)
      if (attempt.number < 2) throw new TypeError(`${job.id} ${attempt.failures} ${attempt.leaseCertain}`)
      return signal.aborted
    })
    expect(await explore({ topology: small({}, fails) })).toMatchObject({ verdict: 'pass' })
  })
})

describe('a topology is refused, naming the field, with', () => {
  const step = { atMs: 0, job: nap, input: { forMs: 1 }, options: { id: 'j1' } }
  test.each<[object, RegExp]>([
    [{ name: '' }, /a topology: name must be a string of 1 to 512/],
    [{ says: 1 }, /topology small: says must be a text, not 1/],
    [{ workers: 0 }, /workers must be a whole number from 1 to 10, not 0/],
    [{ workers: 1.5 }, /workers must be a whole number/],
    [{ sweepers: -1 }, /sweepers must be a whole number from 0 to 10/],
    [{ concurrency: '1' }, /concurrency must be a whole number from 1 to 100, not '1'/],
    [{ horizonMs: Number.NaN }, /horizonMs must be a whole number from 1 to 3600000, not NaN/],
    [{ deviations: 11 }, /deviations must be a whole number from 0 to 10/],
    [{ intervals: { sweepEachMs: 1 } }, /intervals: sweepEachMs is not an interval/],
    [{ duties: [] }, /duties cannot be given/],
    [{ jobs: 'nap' }, /jobs must be a list, not 'nap'/],
    [{ jobs: [{}] }, /jobs: number 0 must be a definition made by defineJob/],
    [{ jobs: [nap, nap] }, /jobs has two of one name/],
    [{ jobs: [defineJob({ name: 'a~b' })] }, /jobs: number 0: name must have no '~'/],
    [{ jobs: [defineJob({ name: 'nap' })] }, /jobs has none with a handler/],
    [{ work: [] }, /work has no job to enqueue/],
    [{ work: [null] }, /work: number 0 must be an object/],
    [{ work: [{ ...step, atMs: -1 }] }, /work: number 0: atMs must be a whole number from 0 to 12000/],
    [{ work: [{ ...step, job: defineJob({ name: 'other' }) }] }, /work: number 0: job must be one of jobs/],
    [{ work: [{ ...step, options: {} }] }, /work: number 0: options.id must be a string/],
    [{ work: [step, step] }, /work: number 1: there are two with the id 'j1'/],
    [{ work: [{ ...step, options: { id: '1.2.3' } }] }, /must have no '~' and not look like 1\.2\.3/],
    [{ work: [{ ...step, also: [] }] }, /also cannot be explored/],
    [
      { faults: [{ family: 'drift' }] },
      /faults: number 0: family must be one of lost-request, .* not 'drift'/,
    ],
    [{ faults: [{ family: 'toString' }] }, /family must be one of/],
    [{ faults: [{ family: 'pause' }] }, /faults: number 0: forMs must be a whole number from 1 to 12000/],
    [{ faults: [{ family: 'lost-reply', forMs: 1 }] }, /lost-reply does not last/],
    [{ faults: [{ family: 'crash', forMs: 1, lands: true }] }, /lands is true or false, and of a database/],
    [{ faults: [{ family: 'crash', forMs: 1, nodes: ['w2'] }] }, /nodes: there is no 'w2'; there are w1/],
    [{ faults: [{ family: 'crash', forMs: 1, nodes: [] }] }, /nodes names none/],
    [{ faults: [{ family: 'lost-reply', calls: ['claim'] }] }, /calls: there is no 'claim'; there are jobs/],
    [{ faults: [{ family: 'operator' }] }, /faults: number 0: order must be an object/],
    [{ faults: [{ family: 'operator', order: { command: 'pause' } }] }, /command must be one of cancel, /],
    [{ faults: [{ family: 'operator', order: { command: 'cancel', job: 'j2' } }] }, /job must be the id of/],
    [{ orders: [{ command: 'hold', job: 'j1', atMs: 0 }] }, /orders: number 0: hold is of all claiming/],
    [{ orders: [{ command: 'hold', atMs: 99_999 }] }, /orders: number 0: atMs must be/],
    [{ properties: [] }, /properties has none: nothing would be judged/],
    [{ properties: [exactlyOnceClaim, exactlyOnceClaim] }, /properties has one twice/],
    [{ properties: [convergence] }, /convergence says what comes in the end/],
    [{ properties: [{ name: 'fencing' }] }, /properties: number 0/],
  ])('%j', (over, says) => {
    const made = (): unknown => small(over)
    expect(made).toThrow(says)
    expect(made).toThrow(InvalidArgument)
  })

  test('and a situation that is to come about may be among its properties', () => {
    expect(small({ properties: [exactlyOnceClaim, ...sometimesProperties.slice(0, 1)] }).deviations).toBe(1)
  })
})

describe('explore and retrace refuse', () => {
  const given = small()
  test.each<[unknown, RegExp]>([
    [undefined, /explore's options must be an object/],
    [{}, /a topology must be an object/],
    [{ topology: bench({ name: 'b', jobs: [nap], workload: () => {} }) }, /topology b: sweepers must be/],
    [{ topology: given, deviations: -1 }, /deviations must be a whole number from 0 to 10/],
    [{ topology: given, boundMs: 0 }, /boundMs must be a whole number/],
    [{ topology: given, statesMax: 1_000 }, /statesMax must be a power of two, not 1000/],
    [{ topology: given, schedulesMax: 0 }, /schedulesMax must be a whole number/],
    [{ topology: given, progress: 1 }, /progress must be a function/],
  ])('%j', async (options, says) => {
    await expect(explore(options as never)).rejects.toThrow(says)
  })

  test('what is no list of deviations', async () => {
    await expect(retrace(given, 'x' as never)).rejects.toThrow(/deviations must be a list, not 'x'/)
  })

  test('more states than there is room for, by a code of its own', async () => {
    await expect(explore({ topology: given, statesMax: 16 })).rejects.toMatchObject({
      code: 'TOO_MUCH_TO_EXPLORE',
    })
  })
})
