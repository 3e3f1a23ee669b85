// Histories as arrays: `by: 'w1#2'` is incarnation 2 of node w1 (plain 'w1' is the first), `at` the true time in
// ms (default: 10 ms after the event before). Jobs have a TTL of 30 s unless told otherwise.
import { expect } from 'vitest'
import type { EventOf, HistoryEvent, HistoryType } from '../../src/engine/history.ts'
import type { Property } from '../../src/properties/index.ts'

type Place = { readonly at?: number; readonly by?: string }
type Fields<T extends HistoryType> = Partial<Omit<EventOf<T>, 'type' | 'atMs' | 'node' | 'incarnation'>> &
  Place
/** Without its time where none was given. */
export type Draft = HistoryEvent & { readonly untimed: boolean }

function make<T extends HistoryType>(type: T, defaults: object, { at, by, ...fields }: Fields<T>): Draft {
  const [node = 'w1', incarnation = '1'] = (by ?? 'w1').split('#')
  const place = { node, incarnation: node === 'env' ? 0 : Number(incarnation) }
  return {
    type,
    ...defaults,
    ...fields,
    atMs: at ?? 0,
    untimed: at === undefined,
    ...place,
  } as unknown as Draft
}

const limits = { maxAttempts: 3, maxEvictions: 3, leaseTtlMs: 30_000, timeoutMs: 60_000 }
const retry = { backoffMs: [1_000], jitter: false }
const env = { by: 'env' } as const
const calls = 'oih'

export const inserted = (job: string, f: Fields<'job.inserted'> = {}): Draft =>
  make(
    'job.inserted',
    {
      job,
      created: true,
      kind: 'work',
      queue: 'default',
      band: 2,
      dueMs: 0,
      undispatched: false,
      keepMs: 600_000,
      input: 7,
      ...limits,
      ...retry,
    },
    { by: 'client', ...f },
  )
export const acknowledged = (job: string, f: Fields<'enqueue.acknowledged'> = {}): Draft =>
  make('enqueue.acknowledged', { job, created: true, tries: 1 }, { by: 'client', ...f })
export const claimed = (job: string, f: Fields<'job.claimed'> = {}): Draft => {
  const counters = { epoch: 1, attempt: 1, failures: 0, evictions: 0 }
  return make('job.claimed', { job, ...counters, token: 't1', leaseTtlMs: 30_000, batch: 1 }, f)
}
export const recovered = (job: string, f: Fields<'claim.recovered'> = {}): Draft =>
  make('claim.recovered', { job, epoch: 1, token: 't1' }, f)
export const voided = (f: Fields<'claim.voided'> = {}): Draft => make('claim.voided', { token: 't1' }, f)
export const renewed = (job: string, f: Fields<'lease.renewed'> = {}): Draft =>
  make('lease.renewed', { job, epoch: 1 }, f)
export const settled = (job: string, f: Fields<'job.settled'> = {}): Draft => {
  const outcome = f.outcome ?? 'succeeded'
  const state = outcome === 'succeeded' || outcome === 'cancelled' ? outcome : 'queued'
  const delayMs = outcome === 'failed' ? 1_000 : 0
  const result = outcome === 'succeeded' ? 9 : 0
  const plain = {
    epoch: 1,
    outcome,
    permanent: false,
    delayMs,
    result,
    error: outcome === 'failed' ? 'HANDLER_ERROR' : null,
    settled: 'applied',
    repeated: false,
    state,
  }
  return make('job.settled', { job, ...plain }, f)
}
export const reclaimed = (job: string, f: Fields<'job.reclaimed'> = {}): Draft =>
  make('job.reclaimed', { job, epoch: 2, evictions: 1, state: 'queued' }, { by: 'w9', ...f })
export const timedOut = (job: string, f: Fields<'job.timedOut'> = {}): Draft =>
  make('job.timedOut', { job, epoch: 2, failures: 1, state: 'queued' }, { by: 'w9', ...f })
export const watch = (kind: EventOf<'watch.moved'>['kind'], f: Fields<'watch.moved'> = {}): Draft =>
  make('watch.moved', { kind, seenSinceMs: 0 }, { by: 'w9', ...f })

export const engine = (what: 'started' | 'stopped', f: Fields<'engine.started'> = {}): Draft =>
  make(`engine.${what}`, { worker: 'worker' }, f)
export const started = (job: string, f: Fields<'attempt.started'> = {}): Draft =>
  make('attempt.started', { job, epoch: 1, attempt: 1 }, f)
export const confirmed = (job: string, f: Fields<'attempt.confirmed'> = {}): Draft =>
  make('attempt.confirmed', { job, epoch: 1, settled: 'applied' }, f)

export const removed = (job: string, f: Fields<'job.removed'> = {}): Draft => make('job.removed', { job }, f)

export const runStarted = (): Draft =>
  make(
    'run.started',
    {
      sweepMs: 5_000,
      storeCallMs: 5_000,
      replyMs: 1_000,
      abandonMs: 10_000,
      pollMsMax: 30_000,
      deadLetterMs: 900_000,
    },
    { at: 0, ...env },
  )
export const fault = (family: string, f: Fields<'fault.struck'> = {}): Draft =>
  make('fault.struck', { fault: `${family} #1`, family, call: null, forMs: 0 }, f)
export const node = (what: 'started' | 'crashed' | 'resumed' | 'paused' | 'stopping', f: Place = {}): Draft =>
  make(
    `node.${what}`,
    what === 'paused'
      ? { forMs: 1_000 }
      : what === 'started'
        ? { queues: { default: 2, long: 2 }, kinds: ['work'] }
        : what === 'stopping'
          ? { drainMs: 0 }
          : {},
    f,
  )
export const down = (at: number): Draft => make('database.down', { forMs: 0 }, { at, ...env })
export const up = (at: number): Draft => make('database.up', {}, { at, ...env })
export const backedUp = (f: Place = {}): Draft => make('database.backedUp', {}, { ...env, ...f })
export const restored = (f: Fields<'database.restored'> = {}): Draft =>
  make('database.restored', { toMs: 0 }, { ...env, ...f })
export const timeline = (number = 1, f: Fields<'timeline.began'> = {}): Draft =>
  make('timeline.began', { timeline: number, token: 'c1' }, { by: 'client', ...f })
export const takenBack = (job: string, f: Fields<'job.takenBack'> = {}): Draft =>
  make('job.takenBack', { job, epoch: 1_000_000, state: 'queued' }, { by: 'client', ...f })
export const healed = (): Draft => make('run.healed', { boundMs: 60_000 }, env)
export const final = (job: string, f: Fields<'job.final'> = {}): Draft => {
  const counters = { attempt: 1, failures: 0, evictions: 0, epoch: 1, version: 3, result: 9, error: null }
  const record = { dead: f.state === 'failed', replayedAs: null, lineage: null }
  return make('job.final', { job, state: 'succeeded', ...counters, ...record }, { ...env, ...f })
}
export const ended = (f: Fields<'run.ended'> = {}): Draft =>
  make('run.ended', { converged: true, tokens: [] }, { ...env, ...f })
export const cancelAsked = (job: string, f: Fields<'job.cancelRequested'> = {}): Draft =>
  make('job.cancelRequested', { job, kind: 'cancelled' }, { by: 'client', ...f })
export const commanded = (job: string, f: Fields<'job.commanded'> = {}): Draft =>
  make(
    'job.commanded',
    { job, command: 'retry', token: 'c1', delayMs: 0, asked: 4, applied: true, version: 5 },
    { by: 'client', ...f },
  )
export const dispatched = (job: string): Draft => make('job.dispatched', { job }, { by: 'w9' })
export const noted = (job: string, f: Fields<'job.noted'> = {}): Draft =>
  make('job.noted', { job, epoch: 1, what: 'checkpoint', key: 'k', value: 3, applied: true }, f)
export const recalled = (job: string, value: number | null, f: Fields<'job.recalled'> = {}): Draft =>
  make('job.recalled', { job, entries: value === null ? [] : [{ key: 'k', value }] }, f)
/** Lines of these texts, from the first of the attempt on. */
export const appended = (job: string, texts: readonly number[], f: Fields<'log.appended'> = {}): Draft =>
  make('log.appended', { job, epoch: 1, lines: texts.map((_, k) => k), texts, applied: true }, f)
/** `kept`: epoch and text of each line that is kept, as `1:11 1:12`; `dropped` came before them. */
export const finalLog = (job: string, kept: string, dropped = 0): Draft => {
  const lines = kept === '' ? [] : kept.split(' ').map((line) => line.split(':').map(Number))
  const [ns, epochs, texts] = [
    lines.map((_, k) => dropped + k),
    lines.map(([e]) => e),
    lines.map(([, t]) => t),
  ]
  return make('log.final', { job, next: dropped + lines.length, ns, epochs, texts }, env)
}
export const switched = (f: Fields<'control.changed'>): Draft =>
  make('control.changed', { hold: false, paused: [] }, { by: 'client', ...f })
/** Of all jobs, unless a queue is named. */
export const listing = (f: Fields<'jobs.listing'> = {}): Draft =>
  make('jobs.listing', { queue: null }, { by: 'client', ...f })
export const listed = (jobs: readonly string[], f: Fields<'jobs.listed'> = {}): Draft =>
  make('jobs.listed', { queue: null, jobs }, { by: 'client', ...f })
/** Of the queue `default`. */
export const counted = (of: Partial<EventOf<'queues.counted'>['queues'][0]>): Draft => {
  const none = { queue: 'default', due: 0, delayed: 0, undispatched: 0, running: 0, dead: 0 }
  return make('queues.counted', { queues: [{ ...none, ...of }] }, { by: 'client' })
}
export const jumped = (byMs: number, f: Place = {}): Draft =>
  make('database.jumped', { byMs }, { ...env, ...f })
export const began = (job: string, f: Fields<'handler.began'> = {}): Draft =>
  make(
    'handler.began',
    { job, epoch: 1, input: 7, abortsUncertain: false, fence: `${job}:${f.epoch ?? 1}:1` },
    f,
  )
export const signalled = (job: string, code: string, f: Fields<'handler.signalled'> = {}): Draft =>
  make('handler.signalled', { job, epoch: 1, code }, f)
export const returned = (job: string, f: Fields<'handler.ended'> = {}): Draft =>
  make(
    'handler.ended',
    { job, epoch: 1, how: 'returned', permanent: false, result: 9, error: null, calls },
    f,
  )
export const threw = (job: string, f: Fields<'handler.ended'> = {}): Draft =>
  make(
    'handler.ended',
    { job, epoch: 1, how: 'threw', permanent: false, result: 0, error: 'HANDLER_ERROR', calls },
    f,
  )
export const health = (f: Fields<'node.health'> = {}): Draft =>
  make('node.health', { status: 'ok', reachable: true, running: 0, slotsUsed: 0, claims: 0, uncertain: 0 }, f)
export const claimIs = (what: 'unknown' | 'known', f: Fields<'claim.unknown'> = {}): Draft =>
  make(`claim.${what}`, { token: 't1' }, f)
export const attemptEnded = (job: string, f: Fields<'attempt.ended'> = {}): Draft =>
  make('attempt.ended', { job, epoch: 1, end: 'succeeded' }, f)
export const attempt = (
  what: 'uncertain' | 'certain' | 'lost' | 'cancelling' | 'abandoned',
  job: string,
  f: Fields<'attempt.lost'> = {},
): Draft => make(`attempt.${what}`, { job, epoch: 1 }, f)
/** As the engine names it, and stating all that it should. */
export const replayed = (job: string, f: Fields<'job.replayed'> = {}): Draft => {
  const [root = job, n = 0] = job.split('~r')
  const lineage = { root, parent: job, replays: Number(n) + 1 }
  const as = `${root}~r${lineage.replays}`
  const whole = { applied: true, deadForMs: 10, stated: 5, copied: 5, lineage }
  return make('job.replayed', { job, as, token: 'c1', ...whole }, { by: 'client', ...f })
}
export const unreplayed = (job: string, f: Fields<'replay.refused'> = {}): Draft =>
  make('replay.refused', { job, why: 'refused', as: null }, { by: 'client', ...f })
export const discarded = (job: string, f: Fields<'job.discarded'> = {}): Draft =>
  make('job.discarded', { job, applied: true }, { by: 'client', ...f })
export const deadListed = (jobs: readonly string[], f: Fields<'dead.listed'> = {}): Draft =>
  make('dead.listed', { jobs, whole: true }, { by: 'client', ...f })
/** Seen of a job, unless it is said to be stated; without members, unless some are given. */
export const jobMembers = (job: string, f: Fields<'job.members'> = {}): Draft =>
  make('job.members', { job, beyond: 0, stated: false, replays: null, schedule: null }, f)
export const scheduleMembers = (key: string, f: Fields<'schedule.members'> = {}): Draft =>
  make('schedule.members', { key, beyond: 0, jobs: 0, stated: false }, f)
export const said = <T extends HistoryType>(type: T, f: Fields<T>): Draft => make(type, {}, f)

export interface Judgement {
  readonly evaluations: number
  readonly kinds: readonly string[]
  readonly messages: readonly string[]
}

/** Folds the history; at `copyAt` goes on with a copy of the state, as a run that is stopped and resumed does. */
export function judge(property: Property, drafts: readonly Draft[], copyAt = -1): Judgement {
  let state = property.start()
  let atMs = 0
  const told = { evaluations: 0, kinds: [] as string[], messages: [] as string[] }
  const verdict = {
    evaluated: () => void told.evaluations++,
    violated: ({ kind, message }: { kind: string; message: string }) => {
      told.kinds.push(kind)
      told.messages.push(message)
    },
  }
  for (const [k, { untimed, ...draft }] of drafts.entries()) {
    atMs = untimed ? atMs + 10 : draft.atMs
    if (k === copyAt) state = structuredClone(state)
    if (property.on.includes(draft.type)) property.step(state, { ...draft, atMs }, verdict)
  }
  return told
}

/** Accepted, and put to the test `evaluations` times (at least once if not told). */
export function expectHolds(property: Property, drafts: readonly Draft[], evaluations?: number): void {
  const told = judge(property, drafts)
  expect(told.messages).toEqual([])
  if (evaluations === undefined) expect(told.evaluations).toBeGreaterThan(0)
  else expect(told.evaluations).toBe(evaluations)
}

/** Refused, once for each of the kinds, in their order. */
export function expectRefused(property: Property, drafts: readonly Draft[], ...kinds: string[]): void {
  const told = judge(property, drafts)
  expect(told.kinds).toEqual(kinds)
  // One unit and one clock: instants as the trace prints them, spans in seconds.
  expect(told.messages.join('\n')).not.toMatch(/\d ms\b/)
  expect(told.evaluations).toBeGreaterThan(0)
}
