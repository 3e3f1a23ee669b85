// Random calls as fast-check commands. A command holds small numbers; which job, token or epoch they mean is
// decided when it runs, so that a shrunk sequence still makes sense.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { JobRecord, Outcome } from '../../../src/engine/jobs/record.ts'
import type { ListParams } from '../../../src/engine/ports/queries.ts'
import type { DeadLetterPage } from '../../../src/engine/ports/dead-letters.ts'
import type * as port from '../../../src/engine/ports/store.ts'
import type { ControlledTime } from '../../../src/stores/conformance/index.ts'
import type { Model, ModelJob } from './model.ts'

interface Real {
  readonly store: port.InspectableStore
  readonly time: ControlledTime
  readonly unlease: (token: string) => Promise<void> | void
  /** How often something worth testing happened, over all runs. */
  readonly seen: Map<string, number>
}

type Command = fc.AsyncCommand<Model, Real>

/** Runs the same on both sides: the answers and, after them, the whole content must agree. */
function command(text: string, run: (model: Model, real: Real) => Promise<[unknown, unknown]>): Command {
  return {
    check: () => true,
    toString: () => text,
    run: async (model, real) => {
      const [expected, actual] = await run(model, real)
      assert.deepEqual(actual, expected)
      assert.deepEqual(ranked(await real.store.dump()), ranked(model.dump()))
    },
  }
}

/** Insertion sequences by rank: a store may leave gaps. */
function ranked({ jobs, ...rest }: port.StoreDump): unknown {
  const order = jobs.map(({ seq }) => seq).sort((a, b) => a - b)
  return { ...rest, jobs: jobs.map((job) => ({ ...job, seq: order.indexOf(job.seq) })) }
}

/** Without them, for the same reason. */
function unranked<R extends port.ClaimReply | port.RecoverReply>(reply: R): unknown {
  return 'jobs' in reply ? { ...reply, jobs: reply.jobs.map(({ seq: _seq, ...job }) => job) } : reply
}

const ttls = [10, 40] as const
const workers = ['w1', 'w2']
const pick = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const limit = pick(-1, 0, 1, 1, 2, 3, 100, 100, 100, 100)

const job = fc.record({
  id: pick('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', '\uFFFD', '😀'),
  kind: pick('k1', 'k1', 'k1', 'k2'),
  queue: pick('q1', 'q2'),
  band: fc.nat(3),
  input: pick('{}', '{}', '{}', '{}', '{}', '[1]'),
  maxAttempts: pick(1, 2, 3, 9),
  maxEvictions: pick(1, 2, 3, 9),
  backoffMs: pick([0], [5, 20], [0, 3, 9]),
  leaseTtlMs: pick(...ttls),
  timeoutMs: pick(1, 15, 100_000),
  traceparent: pick(null, null, '00-1-2-01'),
  tenant: pick(null, null, null, 't"1'),
  keys: pick<string[]>([], [], ['order:Ä1'], ['order:2', 'run:X', 'tenant=t"1']),
  keepMs: pick(0, 30, 100_000),
  metadata: pick(null, null, {}, { tenant: 'a\0\uD800', b: '' }),
  due: pick<port.NewJob['due']>(
    { delayMs: 0 },
    { delayMs: 0 },
    { delayMs: 0 },
    { delayMs: 7 },
    { atMs: 5 },
    { undispatched: true },
  ),
})

const insert = fc
  .record({ fresh: fc.nat(3), jobs: fc.uniqueArray(job, { maxLength: 4, selector: ({ id }) => id }) })
  .map(({ fresh, jobs }) =>
    command(`insert ${JSON.stringify({ fresh, jobs })}`, async (model, { store, seen }) => {
      const insertId =
        fresh > 0 ? `i${model.jobs.length}-${model.nowMs}` : (model.jobs.at(-1)?.insertId ?? 'i')
      const params = {
        insertId,
        jobs: jobs.map(({ due, ...stated }) => {
          const rest = { inputVersion: 1, jitter: false, lineage: null, enqueuedAtMs: 1 }
          return { spec: { ...stated, ...rest }, due }
        }),
      }
      const reply = model.insert(params)
      count(seen, reply.kind)
      return [reply, await store.jobs.insert(params)]
    }),
  )

/** A token that is there, counted from the newest, or a new one. */
function tokenOf(model: Model, choice: number): string {
  const there = model.headers.at(-1 - choice)
  return there ? there.token : `t${String(model.headers.length).padStart(2, '0')}-${model.nowMs}-${choice}`
}

const claim = fc
  .record({
    token: pick(0, 2, 99, 99, 99, 99, 99, 99, 99, 99),
    worker: pick(...workers),
    limit,
    queues: fc.oneof(
      pick([
        { queue: 'q1', limit: 9 },
        { queue: 'q2', limit: 9 },
      ]),
      fc.uniqueArray(fc.record({ queue: pick('q1', 'q2', 'q3'), limit }), {
        maxLength: 3,
        selector: ({ queue }) => queue,
      }),
    ),
    kinds: pick(['k1', 'k2'], ['k2', 'k1'], ['k1', 'k2'], ['k1'], ['k2', 'k1'], []),
    solo: pick<port.ClaimParams['solo']>('take', 'take', 'await', 'pass'),
  })
  .map((raw) =>
    command(`claim ${JSON.stringify(raw)}`, async (model, { store, seen }) => {
      const params = { ...raw, token: tokenOf(model, raw.token) }
      const reply = model.claim(params)
      if (reply.kind === 'void') count(seen, 'void')
      else if (reply.soloWaiting) count(seen, `solo waiting ${raw.solo}`)
      else if (reply.jobs.length > 0) count(seen, 'claimed')
      return [unranked(reply), unranked(await store.claims.claim(params))]
    }),
  )

const recover = pick(0, 0, 0, 1, 2, 3, 99).map((choice) =>
  command(`recover ${choice}`, async (model, { store, seen }) => {
    const token = tokenOf(model, choice)
    const worker = model.headers.find((header) => header.token === token)?.worker ?? 'w1'
    const reply = model.recover({ token, worker })
    count(seen, reply.kind)
    return [unranked(reply), unranked(await store.claims.recover({ token, worker }))]
  }),
)

const renew = fc
  .record({
    worker: pick(...workers),
    choices: fc.uniqueArray(pick(0, 0, 1, 2, 3, 4, 5, 99), { maxLength: 5 }),
  })
  .map(({ worker, choices }) =>
    command(`renew ${worker} ${choices.join()}`, async (model, { store, seen }) => {
      const params = { worker, tokens: [...new Set(choices.map((choice) => tokenOf(model, choice)))] }
      const reply = model.renew(params)
      if (reply.held.length > 0) count(seen, 'held')
      if (reply.held.some(({ cancel }) => cancel)) count(seen, 'held, to be cancelled')
      return [reply, await store.claims.renew(params)]
    }),
  )

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ kind: fc.constant('succeeded' as const), result: pick(null, '1') }),
  fc.record({ kind: fc.constant('released' as const), delayMs: pick(0, 4) }),
  fc.record({ kind: fc.constant('cancelled' as const) }),
  fc.record({
    kind: fc.constant('failed' as const),
    error: fc.constantFrom({ code: 'E', message: 'm' }, { code: 'E', message: 'm', stack: 'at f' }),
    permanent: pick(false, false, false, true),
    delayMs: pick(0, 4),
  }),
)

const settle = fc
  .uniqueArray(
    fc.record({
      job: fc.nat(15),
      back: pick(0, 0, 0, 0, 0, 1, 2, -1, null, null),
      outcome,
      repeated: pick(false, false, true),
    }),
    { minLength: 1, maxLength: 4, selector: (settlement) => settlement.job },
  )
  .map((raw) =>
    command(`settle ${JSON.stringify(raw)}`, async (model, { store, seen }) => {
      const settlements = raw.map(({ job, back, ...rest }) => {
        const running = model.jobs.filter(({ state }) => state === 'running')
        const among = job % 2 === 0 ? running : model.jobs
        const there = among[job % (among.length + 1)]
        const id = there?.spec.id ?? 'nobody'
        const last = there?.lastSettle
        // `back` null sends again what applied last.
        if (back === null && last?.kind === rest.outcome.kind) return { id, epoch: last.epoch, ...rest }
        return { id, epoch: (there?.epoch ?? 1) - (back ?? 0), ...rest }
      })
      const once = settlements.filter(({ id }, n) => settlements.findIndex((each) => each.id === id) === n)
      const reply = model.settle({ worker: 'w1', settlements: once })
      for (const { settled, state } of reply.results) count(seen, `${settled} ${state}`)
      return [reply, await store.jobs.settle({ worker: 'w1', settlements: await placed(store, model, once) })]
    }),
  )

/** Every other group says where its jobs lie, as the engine does. */
async function placed(
  store: port.Store,
  model: Model,
  settlements: readonly port.Settlement[],
): Promise<readonly port.Settlement[]> {
  if (settlements.length % 2 === 0) return settlements
  const found = await Promise.all(settlements.map(({ id }) => store.jobs.get({ id })))
  return settlements.map((settlement, n) => {
    const token = model.jobs.find(({ spec }) => spec.id === settlement.id)?.token ?? 'none'
    return { ...settlement, claimed: { token, seq: found[n]?.seq ?? 0 } }
  })
}

/** A job that is there, rather one of the given states, or nobody. */
function jobOf(model: Model, choice: number, ...states: readonly string[]): ModelJob | undefined {
  const there = choice % 3 > 0 ? model.jobs.filter(({ state }) => states.includes(state)) : model.jobs
  return there[choice % (there.length + 1)]
}

const cancel = fc.nat(15).map((choice) =>
  command(`requestCancel ${choice}`, async (model, { store, seen }) => {
    const id = jobOf(model, choice, 'running', 'queued')?.spec.id ?? 'nobody'
    const reply = model.requestCancel({ id })
    count(seen, `cancel ${reply.kind}`)
    return [reply, await store.jobs.requestCancel({ id })]
  }),
)

const operate = fc
  .record({
    what: pick('retry', 'retry', 'reschedule'),
    job: fc.nat(15),
    back: pick(0, 0, 0, 1, -1),
    again: pick(false, false, true),
    delayMs: pick(0, 0, 4, 100),
  })
  .map(({ what, job, back, again, delayMs }) =>
    command(`${what} ${JSON.stringify({ job, back, again, delayMs })}`, async (model, { store, seen }) => {
      const there = what === 'retry' ? jobOf(model, job, 'failed', 'cancelled') : jobOf(model, job, 'queued')
      const fresh = `c${model.jobs.length}-${model.nowMs}-${job}-${there?.version}`
      const params = {
        id: there?.spec.id ?? 'nobody',
        version: (there?.version ?? 1) - back,
        command: (again ? there?.lastCommand : null) ?? fresh,
      }
      const later = { ...params, delayMs }
      const reply = what === 'retry' ? model.retry(params) : model.reschedule(later)
      const repeat = params.command === fresh ? '' : ' again'
      count(seen, `${what} ${reply.kind}${reply.kind === 'applied' ? repeat : ` ${reply.state}`}`)
      return [reply, await (what === 'retry' ? store.jobs.retry(params) : store.jobs.reschedule(later))]
    }),
  )

const bury = fc
  .record({
    what: pick('replay', 'replay', 'discard'),
    jobs: fc.uniqueArray(fc.nat(20), { minLength: 1, maxLength: 3 }),
    again: pick(false, false, true),
    taken: pick(false, false, false, true),
  })
  .map(({ what, jobs, again, taken }) =>
    command(`${what} ${JSON.stringify({ jobs, again, taken })}`, async (model, { store, seen }) => {
      const dead = model.jobs.filter(({ deadAtMs }) => deadAtMs !== null)
      const among = jobs.map((n) => {
        const some =
          n % 4 > 0 && dead.length > 0 ? dead : model.jobs.filter(({ state }) => state === 'failed')
        return (n % 9 === 8 ? model.jobs : some)[n % (some.length + 1)]
      })
      const ids = [...new Set(among.map((job) => job?.spec.id ?? 'nobody'))]
      if (what === 'discard') {
        const reply = model.discard({ ids })
        for (const { kind } of reply.results) count(seen, `discard ${kind}`)
        return [reply, await store.deadLetters.discard({ ids })]
      }
      const last = among.find((job) => job && job.replayedAs !== null)?.lastCommand
      const command = (again ? last : null) ?? `r${model.jobs.length}-${model.nowMs}-${jobs.join()}`
      const replays = ids.map((id, n) => {
        const free = `${id}~r${model.jobs.length}-${n}`
        return { id, as: taken && n === 0 ? (model.jobs[0]?.spec.id ?? free) : free }
      })
      const reply = model.replay({ command, replays })
      for (const { kind } of reply.results) count(seen, `replay ${kind}${command === last ? ' again' : ''}`)
      return [reply, await store.deadLetters.replay({ command, replays })]
    }),
  )

const deadLetters = fc
  .record({
    limit: pick(1, 1, 2, 100),
    kinds: pick(undefined, undefined, undefined, undefined, ['k1'], []),
    queues: pick(undefined, undefined, undefined, ['q2', 'q1'], ['q2']),
    agoMs: pick(null, null, 0, 20),
  })
  .map(({ agoMs, ...raw }) =>
    command(`deadLetters ${JSON.stringify({ agoMs, ...raw })}`, async (model, { store, seen }) => {
      const { limit, kinds, queues } = raw
      const query = {
        limit,
        ...(kinds && { kinds }),
        ...(queues && { queues }),
        ...(agoMs !== null && { beforeMs: model.nowMs - agoMs }),
      }
      const expected = model.deadLetters({ ...query, limit: 1_000 })
      const actual: JobRecord[] = []
      let cursor: string | null = null
      do {
        const page: DeadLetterPage = await store.deadLetters.list({ ...query, cursor })
        actual.push(...page.jobs)
        cursor = page.next
        if (cursor !== null) count(seen, 'dead letters, in pages')
      } while (cursor !== null)
      if (expected.length > 0) count(seen, 'dead letters')
      return [expected.map(unplaced), actual.map(unplaced)]
    }),
  )

function unplaced(job: JobRecord): JobRecord {
  return { ...job, seq: 0 }
}

const note = fc
  .record({
    what: pick('progress', 'checkpoint'),
    job: fc.nat(15),
    back: pick(0, 0, 0, 0, 1, -1),
    key: pick('a', 'a', 'a', '\uFFFD', '😀'),
    value: pick('1', '{"a":"\\u0000"}', 'null'),
    percent: pick(0, 12.5, 100),
    phase: pick(null, 'p'),
  })
  .map(({ what, job, back, key, value, percent, phase }) =>
    command(
      `${what} ${JSON.stringify({ job, back, key, value, percent })}`,
      async (model, { store, seen }) => {
        const there = jobOf(model, job, 'running')
        const at = { id: there?.spec.id ?? 'nobody', epoch: (there?.epoch ?? 1) - back }
        const [said, kept] = [
          { ...at, percent, phase },
          { ...at, key, value },
        ]
        const replaced = model.checkpointsOf(at).some((each) => each.key === key && each.value !== value)
        const reply = what === 'progress' ? model.progress(said) : model.checkpoint(kept)
        if (!reply.applied) count(seen, `${what} refused`)
        else if (what === 'progress') count(seen, 'progress applied')
        else count(seen, replaced ? 'checkpoint replaced' : 'checkpoint applied')
        const actual = await (what === 'progress' ? store.jobs.progress(said) : store.jobs.checkpoint(kept))
        return [
          [reply, model.checkpointsOf(at)],
          [actual, await store.jobs.checkpoints(at)],
        ]
      },
    ),
  )

const say = fc
  .record({ job: fc.nat(15), back: pick(0, 0, 0, 0, 1, -1), from: fc.nat(4), count: pick(1, 2, 3, 9) })
  .map((drawn) =>
    command(`append ${JSON.stringify(drawn)}`, async (model, { store, seen }) => {
      const there = jobOf(model, drawn.job, 'running')
      const lines = Array.from({ length: drawn.count }, (_, k) => {
        return { line: drawn.from + k, level: 'info' as const, text: `${drawn.from + k}` }
      })
      const id = there?.spec.id ?? 'nobody'
      const said = { id, epoch: (there?.epoch ?? 1) - drawn.back, lines }
      const before = model.logs.get(id)
      const reply = model.append(said)
      const added = (model.logs.get(id)?.next ?? 0) - (before?.next ?? 0)
      const what = added === 0 ? 'nothing' : added < lines.length ? 'some' : 'all'
      count(seen, reply.applied ? `appended ${what}` : 'append refused')
      const { next, lines: kept } = model.logs.get(id) ?? { next: 0, lines: [] }
      const state = model.jobs.find(({ spec }) => spec.id === id)?.state ?? null
      const page = { lines: kept.slice(-3), total: next, dropped: next - kept.length, state }
      const actual = await store.logs.append(said)
      return [
        [reply, page],
        [actual, await store.logs.tail({ id, limit: 3 })],
      ]
    }),
  )

const repair = fc.record({ limit, olderMs: pick(0, 0, 5, 20) }).map((params) =>
  command(`repairDispatch ${JSON.stringify(params)}`, async (model, { store, seen }) => {
    const reply = model.repairDispatch(params)
    if (reply.ids.length > 0) count(seen, 'repaired')
    return [reply, await store.jobs.repairDispatch(params)]
  }),
)

const named = fc
  .record({
    what: pick('acquire', 'acquire', 'renew', 'renew', 'release'),
    key: pick('k', '\uFFFD', '😀'),
    owner: pick(...workers),
    ttlMs: pick(5, 40),
  })
  .map(({ what, ...params }) =>
    command(`${what} ${JSON.stringify(params)}`, async (model, { store: { leases }, seen }) => {
      const [reply, actual] =
        what === 'acquire'
          ? [model.acquire(params), await leases.acquire(params)]
          : what === 'renew'
            ? [model.renewNamed(params), await leases.renew(params)]
            : [model.release(params), await leases.release(params)]
      count(seen, `${what} ${String(Object.values(reply)[0])}`)
      return [reply, actual]
    }),
  )

/** Mostly off again at once, else hardly anything would be claimed. */
const switches = pick<port.ControlChange>(
  { hold: false },
  { hold: false },
  { hold: true },
  { queue: 'q2', paused: true },
  { queue: 'q2', paused: false },
  { queue: '\uFFFD', paused: true },
  { queue: '😀', paused: true },
).map((change) =>
  command(`control ${JSON.stringify(change)}`, async (model, { store }) => {
    const expected = [model.setControl(change), model.control()]
    return [expected, [await store.control.set(change), await store.control.get()]]
  }),
)

const resume = fc.constant(
  command('resume', async (model, { store }) => {
    return [model.setControl({ hold: false }), await store.control.set({ hold: false })]
  }),
)

const reclaim = limit.map((most) =>
  command(`reclaim ${most}`, async (model, { store, seen }) => {
    const reply = model.reclaim({ limit: most })
    for (const { state } of reply.jobs) count(seen, `reclaimed ${state}`)
    if (reply.heldBack > 0) count(seen, 'held back')
    if (reply.full) count(seen, 'full')
    return [reply, await store.jobs.reclaim({ limit: most })]
  }),
)

const adopt = fc.record({ limit, silentMs: pick(0, 20, 20, 40) }).map((params) =>
  command(`adopt ${JSON.stringify(params)}`, async (model, { store, seen }) => {
    const reply = model.adopt(params)
    for (const { state } of reply.jobs) count(seen, `adopted ${state}`)
    return [reply, await store.jobs.adopt(params)]
  }),
)

const unlease = pick(0, 0, 1, 2).map((choice) =>
  command(`unlease ${choice}`, async (model, { unlease }) => {
    const token = tokenOf(model, choice)
    await unlease(token)
    model.unlease(token)
    return [null, null]
  }),
)

const ages = pick(['q1', 'q2'], ['q2', 'q1', 'nowhere'], ['q1', 'q1'], []).map((queues) =>
  command(`queueAges ${queues.join()}`, async (model, { store, seen }) => {
    const reply = model.queueAges({ queues })
    for (const { oldestDueMs } of reply) count(seen, oldestDueMs === null ? 'none due' : 'one due')
    return [reply, await store.jobs.queueAges({ queues })]
  }),
)

/** Each filter is there or not, so that they meet in all ways. */
const filters = fc.record(
  {
    states: pick<JobRecord['state'][]>(
      ['queued'],
      ['running', 'queued'],
      ['running'],
      ['failed', 'cancelled'],
      [],
    ),
    kinds: pick(['k1'], ['k2', 'k1']),
    queues: pick(['q1'], ['q2', 'nowhere']),
    tenant: pick(null, 't"1'),
    keys: pick(['order:2'], ['run:X', 'order:2'], ['order:Ä1'], []),
    createdFromMs: pick(0, 5),
    createdToMs: pick(1, Number.MAX_SAFE_INTEGER),
    dead: fc.boolean(),
  },
  { requiredKeys: [] },
)
const list = fc
  .record({ by: filters, limit: pick(1, 2, 100), payloads: fc.boolean() })
  .map(({ by, ...rest }) =>
    command(`list ${JSON.stringify({ ...by, ...rest })}`, async (model, { store, seen }) => {
      const expected = model.list({ ...by, ...rest })
      if (expected.length > 1) count(seen, 'several pages')
      const pages: (readonly JobRecord[])[] = []
      let cursor: ListParams['cursor'] = null
      do {
        const page = await store.queries.list({ ...by, ...rest, cursor })
        pages.push(page.jobs)
        cursor = page.next
      } while (cursor !== null && pages.length <= expected.length)
      const unranked = (all: readonly (readonly JobRecord[])[]) =>
        all.map((page) => page.map((job) => ({ ...job, seq: 0 })))
      return [unranked(expected), unranked(pages)]
    }),
  )

const counts = fc.constant(
  command('counts', async (model, { store }) => [model.counts(), await store.queries.counts()]),
)

const expire = limit.map((most) =>
  command(`expireTimeouts ${most}`, async (model, { store, seen }) => {
    const reply = model.expireTimeouts({ limit: most })
    for (const { state } of reply.jobs) count(seen, `timed out ${state}`)
    return [reply, await store.jobs.expireTimeouts({ limit: most })]
  }),
)

const collect = fc.record({ limit: pick(-1, 0, 1_000, 1_000), voidMs: pick(0, 20, 1_000) }).map((params) =>
  command(`collect ${JSON.stringify(params)}`, async (model, { store, seen }) => {
    const reply = model.collect(params)
    if (reply.removed > 0) count(seen, 'collected')
    return [reply, await store.claims.collect(params)]
  }),
)

/** One pass, page by page. Cursors are the store's own. */
const sweep = fc
  .record({ limit: pick(-1, 1, 2, 5, 1_000), deadLetterMs: pick(0, 30, 30), olderMs: pick(0, 0, 0, 25) })
  .map((params) =>
    command(`sweep ${JSON.stringify(params)}`, async (model, { store, seen }) => {
      const pages: [unknown[], unknown[]] = [[], []]
      let [expected, actual]: [string | null, string | null] = [null, null]
      do {
        const page = model.sweep({ ...params, after: expected })
        const reply = await store.retention.sweep({ ...params, after: actual })
        if (page.removed.length > 0) count(seen, 'swept')
        else if (page.looked > 0) count(seen, 'kept')
        ;[expected, actual] = [page.after, reply.after]
        pages[0].push({ ...page, after: expected !== null })
        pages[1].push({ ...reply, after: actual !== null })
      } while (expected !== null && actual !== null)
      return pages
    }),
  )

const sweepLeases = fc.record({ limit: pick(-1, 1, 9), lapsedMs: pick(0, 10) }).map((params) =>
  command(`sweepLeases ${JSON.stringify(params)}`, async (model, { store, seen }) => {
    const reply = model.sweepLeases(params)
    if (reply.removed > 0) count(seen, 'leases swept')
    return [reply, await store.retention.sweepLeases(params)]
  }),
)

const move = fc.record({ lateMs: pick(0, 0, 4, 5), sinceReplyMs: pick(0, 2) }).map((raw) =>
  command(`move ${JSON.stringify(raw)}`, async (model, { store, seen }) => {
    const { sinceReplyMs } = raw
    const params = { lastReplyMs: model.nowMs - raw.lateMs - sinceReplyMs, sinceReplyMs, maxAgeMs: 4 }
    const reply = model.move(params)
    count(seen, reply.kind)
    count(seen, reply.silent ? 'silent' : 'not silent')
    return [reply, await store.watch.move(params)]
  }),
)

async function advance(model: Model, { time }: Real, ms: number): Promise<void> {
  model.nowMs += ms
  await time.advance(ms)
}

const pass = pick(
  0,
  1,
  1,
  5,
  5,
  9,
  9,
  10,
  10,
  11,
  20,
  20,
  21,
  39,
  40,
  41,
  41,
  200,
  -1,
  -1,
  -10,
  -1_000,
  -1_001,
  -1_015,
  -1_022,
  -1_023,
).map((ms) =>
  command(`pass ${ms}`, async (model, real) => {
    await advance(model, real, ms)
    return [model.nowMs, await real.store.now()]
  }),
)

/** Time under the eyes of the watch: without it hardly any sequence would reach a reclaim. */
const watched = pick(1, 4, 5, 6).map((moves) =>
  command(`watched ${moves}`, async (model, real) => {
    const both: [unknown[], unknown[]] = [[], []]
    for (let n = 0; n < moves; n++) {
      await advance(model, real, 10)
      const params = { lastReplyMs: model.nowMs, sinceReplyMs: 0, maxAgeMs: 4 }
      both[0].push(model.move(params))
      both[1].push(await real.store.watch.move(params))
    }
    return both
  }),
)

const declare = pick(10, 11, 1).map((sweepMs) =>
  command(`declare ${sweepMs}`, async (model, { store }) => {
    return [model.declare({ sweepMs }), await store.watch.declare({ sweepMs })]
  }),
)

const get = pick('a', 'b', 'nobody').map((id) =>
  command(`get ${id}`, async (model, { store }) => {
    const [expected, actual] = [model.get({ id }), await store.jobs.get({ id })]
    return [expected && { ...expected, seq: 0 }, actual && { ...actual, seq: 0 }]
  }),
)

const reopen = fc.constant(
  command('snapshot and restore', async (_model, { store }) => {
    await store.restore(await store.snapshot())
    return [null, null]
  }),
)

function count(seen: Map<string, number>, what: string): void {
  seen.set(what, (seen.get(what) ?? 0) + 1)
}

/** Those that a sequence needs most come more than once. */
export const commands: fc.Arbitrary<Command>[] = [
  [insert, insert, insert, claim, claim, claim, claim, claim, recover, renew, settle, settle, settle, settle],
  [settle, reclaim, reclaim, reclaim, expire, expire, watched],
  [collect, move, pass, pass, watched, watched, declare, get, reopen],
  [adopt, adopt, unlease, ages, list, list, counts, sweep, sweepLeases],
  [bury, deadLetters, deadLetters, expire],
  [cancel, operate, operate, note, note, note, say, say, repair, named, named, switches, resume],
].flat()
