// The simulation must not lie. For every fault: what really happens is what is simulated. Real processes work on a
// real server that is really broken; the errors are of the same kinds, and the same properties hold of what was
// recorded. What the store did is recorded by the store, what an engine did by its process.
import { afterEach, expect, onTestFailed, test } from 'vitest'
import type { EventOf, HistoryEvent, HistoryType } from '../../src/engine/history.ts'
import { claimOrder, standardProperties } from '../../src/properties/index.ts'
import { type Fleet, type FleetOptions, type Worker, leaseTtlMs, startFleet } from './support/fleet.ts'
import { judge } from './support/judge.ts'

const patienceMs = 120_000

/** Claims that race pass over what the other has locked, as they should: their commits tell no order. */
const properties = standardProperties.filter((property) => property !== claimOrder)

let fleet: Fleet | null = null
afterEach(async () => {
  await fleet?.remove()
  fleet = null
}, patienceMs)

async function started(options: Partial<FleetOptions> = {}): Promise<Fleet & { readonly first: Worker }> {
  const running = await startFleet({ skewsMs: [0, 0], ...options })
  fleet = running
  onTestFailed(() => console.error(running.lastWords()))
  return { ...running, first: running.workers[0] as Worker }
}

function eventsOf<T extends HistoryType>(history: readonly HistoryEvent[], type: T): EventOf<T>[] {
  return history.filter((event) => event.type === type) as unknown as EventOf<T>[]
}

/** Ends the run and judges it; answers what was recorded, and which properties were evaluated or reached. */
async function over(running: Fleet): Promise<{ history: readonly HistoryEvent[]; met: ReadonlySet<string> }> {
  const history = await running.finish()
  const { violations, tallies } = judge(history, properties)
  expect(violations).toEqual([])
  const met = new Set(tallies.flatMap(({ name, evaluations }) => (evaluations > 0 ? [name] : [])))
  // Whatever befell it: these are about every run.
  for (const name of always) expect(met).toContain(name)
  return { history, met }
}

const always = [
  'exactly-once-claim',
  'fencing',
  'single-terminal-state',
  'no-lost-job',
  'exact-budgets',
  'handler-truth',
]

/** Of the calls that failed, whether they may have been carried out. */
function sentOf(history: readonly HistoryEvent[], call: string): Set<string> {
  return new Set(
    eventsOf(history, 'store.failed').flatMap((event) => (event.call === call ? [event.sent] : [])),
  )
}

/** Jobs with the number of their starts and how they ended. */
function endsOf(history: readonly HistoryEvent[]): string[] {
  const starts = (job: string): number =>
    eventsOf(history, 'attempt.started').filter((event) => event.job === job).length
  return eventsOf(history, 'job.final').map(({ job, state }) => `${job} ${starts(job)} ${state}`)
}

/** Parts of statements: a claim, a settle. */
const [claim, settle] = ['header as materialized', 'settle_epoch = j.epoch']

/** Has the worker's next claim that takes a job meet its fate, by holding back the answer to an idle one. */
async function strikeClaim(
  { proxy }: Worker,
  fate: 'drop-reply' | 'drop-request',
  enqueue: () => Promise<void>,
) {
  await proxy.next('hold-reply', claim)
  await enqueue()
  const struck = proxy.next(fate, claim)
  proxy.letGo()
  await struck
}

test(
  'the reply to a claim is lost: it is recovered, and no attempt is burnt',
  async () => {
    const running = await started({ skewsMs: [0] })
    running.struck('lost-reply', running.first, 'claims.claim')
    await strikeClaim(running.first, 'drop-reply', () => running.enqueue('j', 100))
    const { history, met } = await over(running)
    expect(sentOf(history, 'claims.claim')).toEqual(new Set(['maybe']))
    expect(endsOf(history)).toEqual(['j 1 succeeded'])
    expect(eventsOf(history, 'claim.recovered')).toHaveLength(1)
    expect(met).toContain('claim-reply-recovered')
    expect(met).toContain('lost-reply-costs-nothing')
  },
  patienceMs,
)

test(
  'the reply to a settle is lost: its repeat finds its own outcome',
  async () => {
    const running = await started({ skewsMs: [0] })
    running.struck('lost-reply', running.first, 'jobs.settle')
    const struck = running.first.proxy.next('drop-reply', settle)
    await running.enqueue('j', 100)
    await struck
    const { history } = await over(running)
    expect(endsOf(history)).toEqual(['j 1 succeeded'])
    expect(eventsOf(history, 'job.settled').filter(({ settled }) => settled === 'applied')).toHaveLength(1)
  },
  patienceMs,
)

test(
  'the request of a claim is lost: its token is made void, and the job is claimed under another',
  async () => {
    const running = await started({ skewsMs: [0] })
    running.struck('lost-request', running.first, 'claims.claim')
    await strikeClaim(running.first, 'drop-request', () => running.enqueue('j', 100))
    const { history, met } = await over(running)
    expect(sentOf(history, 'claims.claim')).toEqual(new Set(['maybe']))
    expect(endsOf(history)).toEqual(['j 1 succeeded'])
    expect(met).toContain('unknown-claim-voided')
  },
  patienceMs,
)

test(
  'a machine is refused every connection: nothing was sent, and the others go on',
  async () => {
    const running = await started()
    await running.enqueue('long', 3_000)
    running.struck('refused-connection', running.first)
    await running.first.proxy.refuse()
    await running.first.saw('store.failed', ({ sent }) => sent === 'no')
    await running.enqueue('other', 100)
    running.struck('refused-connection', running.first)
    await running.first.proxy.accept()
    const { history } = await over(running)
    expect(eventsOf(history, 'store.failed').some(({ sent }) => sent === 'no')).toBe(true)
    expect(endsOf(history)).toEqual(['long 1 succeeded', 'other 1 succeeded'])
  },
  patienceMs,
)

test(
  'the server restarts while a call is in it',
  async () => {
    const running = await started()
    await running.enqueue('j', 3_000)
    const held = running.first.proxy.next('hold-reply', claim)
    await held
    running.goesDown('database-restart')
    await running.server.restart()
    running.happened({ type: 'database.up' })
    await running.first.saw('store.failed', ({ sent }) => sent === 'maybe')
    const { history } = await over(running)
    expect(endsOf(history)).toEqual(['j 1 succeeded'])
  },
  patienceMs,
)

test(
  'an outage is longer than the lease: the attempt that its worker carries through it is the only one',
  async () => {
    const running = await started()
    await running.enqueue('j', 2 * leaseTtlMs)
    const worker = await Promise.race(
      running.workers.map(async (each) => {
        await each.saw('attempt.started')
        return each
      }),
    )
    await running.server.kill()
    running.goesDown('outage-long')
    await worker.saw('attempt.uncertain')
    running.happened({ type: 'database.up' })
    await running.server.start()
    const { history, met } = await over(running)
    expect(eventsOf(history, 'store.failed').some(({ sent }) => sent === 'no')).toBe(true)
    expect(endsOf(history)).toEqual(['j 1 succeeded'])
    expect(met).toContain('one-start-through-outage')
    expect(met).toContain('lease-became-certain-again')
  },
  patienceMs,
)

test(
  'the server stands still: what was asked meanwhile may have been done',
  async () => {
    const running = await started()
    await running.enqueue('j', 3_000)
    running.server.freeze()
    running.goesDown('stall')
    await running.first.saw('store.failed', ({ sent }) => sent === 'maybe')
    running.happened({ type: 'database.up' })
    running.server.thaw()
    const { history } = await over(running)
    expect(endsOf(history)).toEqual(['j 1 succeeded'])
  },
  patienceMs,
)

test(
  'a worker is killed: its jobs are started again after their leases, by others',
  async () => {
    const running = await started()
    for (let k = 0; k < 4; k++) await running.enqueue(`j${k}`, 1_500)
    await running.first.saw('attempt.started')
    running.struck('crash', running.first)
    await running.first.kill()
    running.first.restart()
    const { history, met } = await over(running)
    expect(met).toContain('dead-worker-recovered')
    expect(eventsOf(history, 'job.final').map(({ state }) => state)).toEqual(Array(4).fill('succeeded'))
  },
  patienceMs,
)

test(
  'a worker stands still and goes on after its jobs are others: it changes nothing',
  async () => {
    const running = await started({ concurrency: 1 })
    const [first, second] = running.workers as [Worker, Worker]
    await running.enqueue('a', 1_500)
    await running.enqueue('b', 1_500)
    const { job } = await first.saw('attempt.started')
    running.struck('pause', first)
    first.freeze()
    await second.saw('attempt.started', (event) => event.job === job)
    first.thaw()
    const refused = first.saw('job.settled', ({ settled }) => settled !== 'applied')
    await Promise.race([refused, first.saw('attempt.lost')])
    const { history, met } = await over(running)
    expect(met.has('attempt-lost') || met.has('zombie-settle-refused')).toBe(true)
    expect(eventsOf(history, 'job.final').map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
  },
  patienceMs,
)

test(
  'the clocks of the machines are an hour wrong, one fast and one slow: the database alone tells the time',
  async () => {
    const hourMs = 3_600_000
    const running = await started({ skewsMs: [hourMs, -hourMs] })
    for (const worker of running.workers) running.struck('clock-skew', worker)
    for (let k = 0; k < 4; k++) await running.enqueue(`j${k}`, 1_500)
    await running.first.saw('attempt.started')
    running.struck('crash', running.first)
    await running.first.kill()
    const { history, met } = await over(running)
    expect(met).toContain('dead-worker-recovered')
    expect(eventsOf(history, 'job.final').map(({ state }) => state)).toEqual(Array(4).fill('succeeded'))
  },
  patienceMs,
)
