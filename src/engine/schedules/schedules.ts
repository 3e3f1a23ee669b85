import { CommandRefused, InvalidArgument, ScheduleInvalid } from '../errors.ts'
import { type Names, optionsOf, requireKnown, requireObject, requireWhole, shown } from '../given.ts'
import type { JobDescription } from '../jobs/definition.ts'
import { type EnqueueOptions, enqueueOptions, newJob } from '../jobs/enqueue.ts'
import type { Prepared, Producer } from '../jobs/insert.ts'
import { sameJson } from '../jobs/json.ts'
import { requireName } from '../jobs/text.ts'
import type { ScheduleRow } from '../ports/schedules.ts'
import { dateOf } from './calendar.ts'
import type { CatchUp } from './catch-up.ts'
import { type ScheduleSpec, slotId, specOf, specText } from './spec.ts'
import { type StoredTrigger, type Trigger, sameTrigger, slotsOf, storedTrigger } from './trigger.ts'

/** Jobs that are made again and again. Their ids are `<key>@<slot>`, and their key `schedule` finds them. */
export interface Schedules {
  /**
   * Makes the schedule, or changes it to what is said now. Said again it changes nothing, so it may be put at each
   * start; what is next stays as it was while the times stay the same. Throws `ScheduleInvalid`, and what `enqueue`
   * throws of a job.
   */
  put<Input>(key: string, options: ScheduleOptions<Input>): Promise<Schedule>
  /** Answers whether it was there. The jobs that it has made stay. */
  remove(key: string): Promise<boolean>
  get(key: string): Promise<Schedule | null>
  /** By key. `limit`: 1 to 1,000, default 100; `cursor`: the `next` of the page before. */
  list(options?: { readonly limit?: number; readonly cursor?: string | null }): Promise<SchedulePage>
  /** It fires no more until `resume`. Throws `CommandRefused` if there is none. */
  pause(key: string): Promise<Schedule>
  /** It goes on with the next slot to come; what came meanwhile is not made up for. Throws as `pause` does. */
  resume(key: string): Promise<Schedule>
  /** The next `count` (1 to 1,000) slots of such a schedule, from the database's time on. Throws `ScheduleInvalid`. */
  next(trigger: Trigger, count: number): Promise<Date[]>
}

export type ScheduleOptions<Input = unknown> = Trigger &
  Omit<EnqueueOptions, 'id' | 'delayMs' | 'runAt' | 'traceparent'> & {
    readonly job: JobDescription<Input>
    readonly input: Input
    /**
     * What becomes of slots that came while no engine was there: `skip` makes up for none, `latest` (default) for the
     * latest, `{ all: n }` for as many of the latest, n from 1 to 1,000.
     */
    readonly catchUp?: CatchUp
  }

export interface Schedule {
  readonly key: string
  readonly kind: string
  readonly queue: string
  readonly trigger: StoredTrigger
  readonly catchUp: CatchUp
  readonly paused: boolean
  /** Null: never, or it is paused. In the past: it is due. */
  readonly nextAt: Date | null
  /** The latest slot that a job was made for. */
  readonly lastAt: Date | null
  readonly madeAt: Date
}
export interface SchedulePage {
  readonly schedules: readonly Schedule[]
  /** Keys of those on this page that a release has put which this one does not understand. */
  readonly unreadable: readonly string[]
  /** Give it as `cursor` to go on; null: this was the last page. */
  readonly next: string | null
}

type Every<Union> = Union extends unknown ? keyof Union : never
const triggerNames: { readonly [Name in Every<Trigger>]: true } = {
  cron: true,
  timeZone: true,
  everyMs: true,
  startAt: true,
}
/** With those of `enqueue` that a schedule cannot take, which are refused in words of their own. */
const scheduleOptions: Names<Omit<ScheduleOptions, Every<Trigger>>> & typeof triggerNames = {
  ...triggerNames,
  ...enqueueOptions,
  job: true,
  input: true,
  catchUp: true,
}

/** So that the id of a job has room for its slot. */
const keyLengthMax = 400
const countMax = 1_000
/** How often a change is tried anew that others came in between with: each of them has got on. */
const triesMax = 20

export function createSchedules(producer: Producer, changed: () => void): Schedules {
  const { store, random, ask, payloads } = producer
  const { schedules } = store
  const newCommand = (): string => `schedule~${random.id('schedule')}`
  const read = (key: string): Promise<ScheduleRow | null> => ask('schedules.get', schedules.get({ key }))
  const now = (): Promise<number> => ask('now', store.now())

  async function put(key: string, options: ScheduleOptions<never>): Promise<ScheduleRow> {
    const row = await read(key)
    const before = row && specOf(row)
    const nowMs = await now()
    const trigger = storedTrigger(options, nowMs, before?.trigger)
    const prepared = await jobOf(producer, key, options)
    const job = before ? await asBefore(prepared, before) : templateOf(prepared, prepared.spec.input)
    const spec = specText({ trigger, catchUp: catchUpOf(options.catchUp), job }, row && row.spec)
    // Another release may write the same in another order.
    if (row && sameJson(row.spec, spec)) return row
    const goesOn = row !== null && before !== null && sameTrigger(before.trigger, trigger)
    const nextAtMs = goesOn ? row.nextAtMs : slotsOf(trigger).next(fromOf(row, nowMs))
    const params = { key, version: row?.version ?? null, command: newCommand(), spec, nextAtMs }
    const { kind } = await ask('schedules.put', schedules.put(params))
    if (kind === 'refused') throw new Overtaken()
    const made = { key, paused: false, lastAtMs: null, madeAtMs: nowMs }
    return (await read(key)) ?? { ...made, version: params.command, spec, nextAtMs }
  }

  /** A codec may make another text of the same input: then the text stays as it is. */
  async function asBefore(prepared: Prepared, { job }: ScheduleSpec): Promise<ScheduleSpec['job']> {
    const { spec, json } = prepared
    if (!payloads.coded || job.input === spec.input) return templateOf(prepared, spec.input)
    const known = await isSame(job.input, json)
    return templateOf(prepared, known ? job.input : spec.input)
  }

  async function isSame(stored: string, json: string): Promise<boolean> {
    try {
      return sameJson(await payloads.plain(`the input of the schedule's job`, stored), json)
    } catch {
      // It was encoded with a key that is gone.
      return false
    }
  }

  async function pause(key: string, paused: boolean): Promise<ScheduleRow> {
    const row = await read(key)
    if (!row) throw new CommandRefused(`${paused ? 'pause' : 'resume'}: there is no schedule ${key}`)
    // What nobody here understands is left as it is.
    const { trigger } = specOf(row)
    if (row.paused === paused) return row
    const nextAtMs = paused ? row.nextAtMs : slotsOf(trigger).next(fromOf(row, await now()))
    const command = newCommand()
    const params = { key, version: row.version, command, paused, nextAtMs }
    const { applied } = await ask('schedules.pause', schedules.pause(params))
    if (!applied) throw new Overtaken()
    return { ...row, version: command, paused, nextAtMs }
  }

  /** Until nobody comes in between. */
  async function change(key: string, turn: () => Promise<ScheduleRow>): Promise<Schedule> {
    for (let tries = 1; ; tries++) {
      try {
        const row = await turn()
        changed()
        return scheduleOf(row)
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
        if (tries >= triesMax)
          throw new CommandRefused(`the schedule ${key} is changed by others all the time`)
      }
    }
  }

  return {
    put: async (key, options) => {
      requireKey(key)
      requireObject('options', options, InvalidArgument)
      requireKnown('options', options, scheduleOptions, InvalidArgument)
      return change(key, () => put(key, options as ScheduleOptions<never>))
    },
    remove: async (key) => {
      requireKey(key)
      return (await ask('schedules.remove', schedules.remove({ key }))).removed
    },
    get: async (key) => {
      requireKey(key)
      const row = await read(key)
      return row && scheduleOf(row)
    },
    list: async (options) => {
      const { limit = 100, cursor = null } = optionsOf(options, { limit: true, cursor: true })
      requireWhole('limit', limit, { min: 1, max: countMax }, InvalidArgument)
      if (cursor !== null) requireName('a cursor', cursor, InvalidArgument)
      const params = { limit: limit + 1, after: cursor }
      const { schedules: rows } = await ask('schedules.list', schedules.list(params))
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      return { ...readable(page), next: last?.key ?? null }
    },
    pause: async (key) => {
      requireKey(key)
      return change(key, () => pause(key, true))
    },
    resume: async (key) => {
      requireKey(key)
      return change(key, () => pause(key, false))
    },
    next: async (trigger, count) => {
      requireObject('a trigger', trigger, ScheduleInvalid)
      requireKnown('a trigger', trigger, triggerNames, ScheduleInvalid)
      requireWhole('count', count, { min: 1, max: countMax }, InvalidArgument)
      const nowMs = await now()
      const slots = slotsOf(storedTrigger(trigger, nowMs))
      const next: Date[] = []
      let atMs = slots.next(nowMs)
      for (; atMs !== null && next.length < count; atMs = slots.next(atMs)) next.push(dateOf(atMs))
      return next
    },
  }
}

/** What is next comes after now, and, where the clock was set back, after what was fired before that. */
function fromOf(row: ScheduleRow | null, nowMs: number): number {
  return Math.max(nowMs, row?.lastAtMs ?? nowMs)
}

/** Somebody else changed the schedule between the look at it and the change. */
class Overtaken extends Error {}

function requireKey(key: unknown): asserts key is string {
  requireName('the key of a schedule', key, InvalidArgument)
  if (key.length <= keyLengthMax) return
  throw new InvalidArgument(`the key of a schedule has at most ${keyLengthMax} characters, not ${key.length}`)
}

const ofOthers = ['id', 'delayMs', 'runAt', 'traceparent']

/** The job as an enqueue would make it. Its id is of no slot, and its place in time is not its own. */
async function jobOf(producer: Producer, key: string, options: ScheduleOptions<never>): Promise<Prepared> {
  if (options.keys !== undefined) requireObject('keys', options.keys, InvalidArgument)
  const { job, input, queue, priority, leaseTtlMs, timeoutMs, keepMs, tenant, keys, metadata } = options
  for (const name of ofOthers) {
    if (name in options) throw new InvalidArgument(`a schedule takes no ${name}: each slot has its own`)
  }
  const stated = { queue, priority, leaseTtlMs, timeoutMs, keepMs, tenant, metadata }
  const given = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined))
  const id = slotId(key, 0)
  return newJob(producer, { ...given, id, job, input, keys: { ...keys, schedule: key } })
}

function templateOf({ spec }: Prepared, input: string): ScheduleSpec['job'] {
  const { id: _id, lineage: _lineage, enqueuedAtMs: _enqueuedAtMs, ...template } = spec
  return { ...template, input }
}

function catchUpOf(given: unknown): CatchUp {
  if (given === undefined || given === 'latest') return 'latest'
  if (given === 'skip') return given
  const all = typeof given === 'object' && given !== null ? (given as { all?: unknown }).all : undefined
  if (all === undefined) {
    throw new ScheduleInvalid(`catchUp must be 'skip', 'latest' or { all: n }, not ${shown(given)}`)
  }
  return { all: requireWhole('catchUp.all', all, { min: 1, max: countMax }, ScheduleInvalid) }
}

function readable(rows: readonly ScheduleRow[]): Pick<SchedulePage, 'schedules' | 'unreadable'> {
  const schedules: Schedule[] = []
  const unreadable: string[] = []
  for (const row of rows) {
    try {
      schedules.push(scheduleOf(row))
    } catch (error) {
      if (!(error instanceof ScheduleInvalid)) throw error
      unreadable.push(row.key)
    }
  }
  return { schedules, unreadable }
}

function scheduleOf(row: ScheduleRow): Schedule {
  const { trigger, catchUp, job } = specOf(row)
  const { key, paused, nextAtMs, lastAtMs, madeAtMs } = row
  return {
    key,
    kind: job.kind,
    queue: job.queue,
    trigger,
    catchUp,
    paused,
    // Where a paused one goes on is found when it does.
    nextAt: paused || nextAtMs === null ? null : dateOf(nextAtMs),
    lastAt: lastAtMs === null ? null : dateOf(lastAtMs),
    madeAt: dateOf(madeAtMs),
  }
}
