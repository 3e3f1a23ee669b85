// Arbitrary histories over two jobs and three incarnations: mostly nonsense, and that is the point. A property
// must come to the same verdict about nonsense every time.
import fc from 'fast-check'
import * as dsl from './dsl.ts'

const job = fc.constantFrom('a', 'b')
const by = fc.constantFrom('w1', 'w1#2', 'w2')
const epoch = fc.integer({ min: 1, max: 4 })
const small = fc.integer({ min: 0, max: 3 })
const state = fc.constantFrom('queued', 'failed')
const outcome = fc.constantFrom('succeeded', 'failed', 'released', 'cancelled')
const answer = fc.constantFrom('applied', 'applied', 'lost', 'superseded')
const family = fc.constantFrom(
  'lost-reply',
  'lost-request',
  'pause',
  'database-restart',
  'timers',
  'operator',
)
const call = fc.constantFrom('claims.claim', 'claims.renew', 'jobs.settle', 'watch.move', null)
const what = fc.constantFrom('started', 'crashed', 'paused', 'resumed', 'stopping')
const kind = fc.constantFrom('moved', 'restarted', 'refused')
const flag = fc.boolean()
const token = fc.constantFrom('c1', 'c2')
const code = fc.constantFrom('TIMEOUT', 'CANCELLED', 'LEASE_LOST', 'LEASE_UNCERTAIN', 'ENGINE_STOPPING')
const phase = fc.constantFrom('uncertain', 'certain', 'lost', 'abandoned')
const lease = fc.record({
  key: fc.constant('k'),
  owner: fc.constantFrom('x', 'y'),
  ttlMs: fc.constant(10_000),
  held: flag,
  released: flag,
  by,
})
const named = fc.constantFrom(
  'named.acquired',
  'named.refused',
  'named.renewed',
  'named.released',
  'exclusive.began',
  'exclusive.lost',
  'exclusive.ended',
)

const slotMs = fc.integer({ min: 0, max: 4 }).map((k) => k * 60_000)
const schedule = fc.record({
  key: fc.constant('k'),
  kind: fc.constantFrom('put', 'same'),
  cron: fc.constantFrom('* * * * *', '*/2 * * * *'),
  timeZone: fc.constantFrom('UTC', 'Europe/Berlin'),
  everyMs: fc.constant(null),
  anchorMs: fc.constant(null),
  catchUp: fc.constantFrom('skip', 'latest', 2),
  nextMs: fc.option(slotMs),
  paused: flag,
  applied: flag,
  removed: flag,
  outcome: fc.constantFrom('fired', 'fired', 'lost'),
  slots: fc.array(slotMs, { maxLength: 2 }),
  jobs: fc.constantFrom([], ['k@2026-01-01T00:01:00.000Z']),
  by,
})
const scheduled = fc.constantFrom('schedule.put', 'schedule.paused', 'schedule.removed', 'schedule.fired')

const about = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.tuple(job, fc.record({ by: fc.constant('client') })).map(([id, f]) => dsl.inserted(id, f)),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(job, fc.record({ by, epoch, failures: small })).map(([id, f]) => dsl.claimed(id, f)),
  },
  fc.tuple(job, fc.record({ by, epoch })).map(([id, f]) => dsl.recovered(id, f)),
  fc.constantFrom(null, 'default').map((queue) => dsl.listing({ queue })),
  fc.array(job, { maxLength: 3 }).map((jobs) => dsl.listed(jobs)),
  fc.record({ due: small, running: small, dead: small }).map(dsl.counted),
  { weight: 4, arbitrary: fc.tuple(job, fc.record({ by, epoch })).map(([id, f]) => dsl.renewed(id, f)) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(job, fc.record({ by, epoch, outcome, settled: answer, repeated: flag, permanent: flag }))
      .map(([id, f]) => dsl.settled(id, f)),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(job, fc.record({ epoch, evictions: small, state }))
      .map(([id, f]) => dsl.reclaimed(id, f)),
  },
  fc.tuple(job, fc.record({ epoch, failures: small, state })).map(([id, f]) => dsl.timedOut(id, f)),
  { weight: 4, arbitrary: fc.tuple(job, fc.record({ by, epoch })).map(([id, f]) => dsl.started(id, f)) },
  fc.tuple(job, fc.record({ by, epoch, settled: answer })).map(([id, f]) => dsl.confirmed(id, f)),
  fc
    .tuple(job, fc.record({ kind: fc.constantFrom('cancelled', 'requested') }))
    .map(([id, f]) => dsl.cancelAsked(id, f)),
  fc
    .tuple(job, fc.record({ command: fc.constantFrom('retry', 'reschedule'), token, applied: flag }))
    .map(([id, f]) => dsl.commanded(id, f)),
  fc.tuple(job, fc.record({ by, epoch, value: small, applied: flag })).map(([id, f]) => dsl.noted(id, f)),
  fc.tuple(job, small).map(([id, value]) => dsl.recalled(id, value)),
  fc.tuple(job, fc.record({ by, token, applied: flag, copied: small })).map(([id, f]) => dsl.replayed(id, f)),
  fc
    .tuple(job, fc.record({ by, why: fc.constantFrom('already', 'refused'), as: fc.constantFrom('b', null) }))
    .map(([id, f]) => dsl.unreplayed(id, f)),
  fc.tuple(job, fc.record({ by, applied: flag })).map(([id, f]) => dsl.discarded(id, f)),
  fc.tuple(fc.subarray(['a', 'b']), fc.record({ by, whole: flag })).map(([ids, f]) => dsl.deadListed(ids, f)),
  fc
    .tuple(fc.constantFrom('replay-all.began', 'replay-all.ended'), by)
    .map(([type, who]) => dsl.said(type, { by: who })),
  fc
    .tuple(job, fc.record({ input: small, kind: fc.constantFrom('work', 'other') }))
    .map(([id, f]) => dsl.said('insert.refused', { job: id, ...f })),
  fc
    .record({ by, running: small, slotsUsed: small, claims: small, uncertain: small, reachable: flag })
    .map(dsl.health),
  fc.tuple(fc.constantFrom('unknown', 'known'), by).map(([what, who]) => dsl.claimIs(what, { by: who })),
  fc
    .tuple(job, fc.record({ by, beyond: small, stated: flag, replays: fc.constantFrom('b', null) }))
    .map(([id, f]) => dsl.jobMembers(id, f)),
  fc.record({ by, beyond: small, jobs: small, stated: flag }).map((f) => dsl.scheduleMembers('k', f)),
  fc.tuple(job, by).map(([id, who]) => dsl.said('job.dispatched', { job: id, by: who })),
  fc.tuple(job, by).map(([id, who]) => dsl.removed(id, { by: who })),
  fc.tuple(job, fc.record({ by, epoch })).map(([id, f]) => dsl.said('settle.refused', { job: id, ...f })),
  fc.tuple(job, fc.record({ by, epoch, abortsUncertain: flag })).map(([id, f]) => dsl.began(id, f)),
  fc.tuple(job, code, fc.record({ by, epoch })).map(([id, why, f]) => dsl.signalled(id, why, f)),
  fc.tuple(job, fc.record({ by, epoch, result: small })).map(([id, f]) => dsl.returned(id, f)),
  fc.tuple(job, fc.record({ by, epoch })).map(([id, f]) => dsl.attemptEnded(id, f)),
  fc.tuple(phase, job, fc.record({ by, epoch })).map(([name, id, f]) => dsl.attempt(name, id, f)),
)

const around = fc.oneof(
  fc.tuple(what, by).map(([name, who]) => dsl.node(name, { by: who })),
  by.map((who) => dsl.engine('started', { by: who })),
  fc
    .tuple(family, fc.record({ by: fc.oneof(by, fc.constant('env')), call }))
    .map(([name, f]) => dsl.fault(name, f)),
  fc.tuple(kind, by).map(([name, who]) => dsl.watch(name, { by: who })),
  fc.constantFrom(dsl.down(0), dsl.up(0)),
  fc.tuple(scheduled, schedule).map(([type, f]) => dsl.said(type, f)),
  fc.tuple(named, lease).map(([type, f]) => dsl.said(type, f)),
  fc.constantFrom(dsl.jumped(40_000), dsl.jumped(-40_000), dsl.switched({ hold: true }), dsl.switched({})),
  fc.constantFrom(dsl.healed(), dsl.voided(), dsl.acknowledged('a'), dsl.final('a'), dsl.final('b')),
)

/** Events with the time that passes before each: often none, often a moment, sometimes longer than a lease. */
const gapMs = fc.oneof(
  fc.constantFrom(0, 10),
  fc.integer({ min: 1, max: 6_000 }),
  fc.integer({ min: 1, max: 70_000 }),
)
const steps = fc.array(fc.tuple(gapMs, fc.oneof(about, around)), { minLength: 20, maxLength: 120 })

export const soup: fc.Arbitrary<readonly dsl.Draft[]> = steps.map((list) => {
  let atMs = 0
  const history = list.map(([afterMs, draft]) => ({ ...draft, atMs: (atMs += afterMs), untimed: false }))
  return [dsl.runStarted(), ...history, dsl.ended({ at: atMs + 1 })]
})
