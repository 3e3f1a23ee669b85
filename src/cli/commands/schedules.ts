import type { Engine } from '../../engine/api.ts'
import { CommandRefused, ScheduleInvalid } from '../../engine/errors.ts'
import type { CatchUp } from '../../engine/schedules/catch-up.ts'
import type { Schedule } from '../../engine/schedules/schedules.ts'
import type { StoredTrigger, Trigger } from '../../engine/schedules/trigger.ts'
import { inert } from '../../report/format.ts'
import { type ListColumn, facts, listing } from '../listing.ts'
import { refuseOptions } from '../options.ts'
import type { ExitCode } from '../place.ts'
import { ago, duration, exactDuration, instant, instantAndAgo, wallTime } from '../when.ts'
import { moreOf } from './jobs.ts'
import { type Done, type OperateOptions, operate } from './operate.ts'

export interface SchedulesOptions extends OperateOptions {
  readonly limit?: number
  readonly cursor?: string
  /** How many slots to come are shown of one. */
  readonly slots?: number
}

/** Many of them, or one. */
export async function schedules(key: string | undefined, options: SchedulesOptions): Promise<ExitCode> {
  if (key === undefined) {
    refuseOptions(options, ['slots'], 'without the key of a schedule')
    return listed(options)
  }
  refuseOptions(options, ['limit', 'cursor'], 'of one schedule')
  return operate(options, async (engine) => {
    const schedule = await engine.schedules.get(key)
    if (!schedule) throw new CommandRefused(`there is no schedule ${key}`)
    return shown(engine, schedule, options.slots)
  })
}

function listed(options: SchedulesOptions): Promise<ExitCode> {
  const { limit, cursor } = options
  const query = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
  return operate(options, async (engine) => {
    const page = await engine.schedules.list(query)
    const nowMs = await engine.store.now()
    const rows = page.schedules.map((schedule) => rowOf(schedule, nowMs))
    const strange = page.unreadable.map(
      (key) => `schedule ${inert(key)}: put by a release that this one does not understand`,
    )
    const says =
      rows.length > 0 ? listing(columns, rows) : strange.length > 0 ? [] : ['there is no such schedule']
    return { says: [...says, ...strange, ...moreOf(page)].join('\n'), data: page }
  })
}

const columns: readonly ListColumn[] = [
  { title: 'next' },
  { title: 'in', right: true },
  { title: 'when', cut: true },
  { title: 'zone', cut: true },
  { title: 'catch-up' },
  { title: 'kind', cut: true },
  { title: 'schedule' },
]

function rowOf(schedule: Schedule, nowMs: number): string[] {
  const { key, kind, trigger, catchUp, paused, nextAt } = schedule
  const next = nextAt === null ? (paused ? 'paused' : 'never') : instant(nextAt.getTime())
  const until = nextAt === null ? '' : ago(nextAt.getTime(), nowMs).replace(/^in /, '')
  return [next, until, triggerSaid(trigger), zoneOf(trigger) ?? '', catchUpSaid(catchUp), kind, key]
}

function triggerSaid(trigger: StoredTrigger): string {
  return 'cron' in trigger ? trigger.cron : `every ${exactDuration(trigger.everyMs)}`
}

function zoneOf(trigger: StoredTrigger): string | null {
  return 'cron' in trigger ? trigger.timeZone : null
}

function catchUpSaid(catchUp: CatchUp): string {
  return typeof catchUp === 'string' ? catchUp : `all ${catchUp.all}`
}

const slotsDefault = 5

/** `slots` are what comes next by the clock of the database, whether it is paused or not. */
async function shown(engine: Engine, schedule: Schedule, count = slotsDefault): Promise<Done> {
  const { trigger, paused } = schedule
  const nowMs = await engine.store.now()
  const slots = await slotsOf(engine, trigger, count)
  const text = [
    ...facts(factsOf(schedule, nowMs)),
    '',
    ...(paused ? ['It is paused. If it went on now, these would come:'] : []),
    ...('unknown' in slots ? [inert(slots.unknown)] : slotsTable(slots, trigger, nowMs)),
  ]
  return { says: text.join('\n'), data: { schedule, slots: 'unknown' in slots ? null : slots } }
}

function factsOf(schedule: Schedule, nowMs: number): (readonly [string, string | null])[] {
  const { key, kind, queue, trigger, catchUp, paused, nextAt, lastAt, madeAt } = schedule
  const at = (date: Date | null): string | null => date && instantAndAgo(date.getTime(), nowMs)
  return [
    ['schedule', key],
    ['kind', kind],
    ['queue', queue],
    ['when', triggerSaid(trigger)],
    ['zone', zoneOf(trigger)],
    ['catch-up', catchUpSaid(catchUp)],
    ['next', at(nextAt) ?? (paused ? 'paused' : 'never')],
    ['last slot', at(lastAt) ?? 'none'],
    ['made', at(madeAt)],
  ]
}

/** What this machine knows no zone for can be paused and removed all the same. */
async function slotsOf(
  engine: Engine,
  trigger: StoredTrigger,
  count: number,
): Promise<Date[] | { readonly unknown: string }> {
  try {
    return await engine.schedules.next(statedOf(trigger), count)
  } catch (error) {
    if (error instanceof ScheduleInvalid) return { unknown: error.message }
    throw error
  }
}

function statedOf(trigger: StoredTrigger): Trigger {
  if ('cron' in trigger) return trigger
  return { everyMs: trigger.everyMs, startAt: new Date(trigger.anchorMs) }
}

function slotsTable(slots: readonly Date[], trigger: StoredTrigger, nowMs: number): string[] {
  const zone = zoneOf(trigger) ?? 'UTC'
  const rows = slots.map((slot) => {
    const atMs = slot.getTime()
    return [instant(atMs), duration(atMs - nowMs), wallTime(atMs, zone)]
  })
  return listing([{ title: 'slot' }, { title: 'in', right: true }, { title: zone }], rows)
}

export function pauseSchedule(key: string, options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => switched(await engine.schedules.pause(key)))
}

export function resumeSchedule(key: string, options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => switched(await engine.schedules.resume(key)))
}

function switched(schedule: Schedule): Done {
  const { key, paused, nextAt } = schedule
  const next = nextAt === null ? 'never comes again' : `comes next at ${instant(nextAt.getTime())}`
  const says = paused ? 'is paused, and makes no job until it is resumed' : next
  return { says: `schedule ${inert(key)}: ${says}`, data: schedule }
}

export function removeSchedule(key: string, options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => {
    if (!(await engine.schedules.remove(key))) throw new CommandRefused(`remove: there is no schedule ${key}`)
    const says = `schedule ${inert(key)}: is removed; the jobs that it has made stay`
    return { says, data: { key, removed: true } }
  })
}
