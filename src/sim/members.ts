import type { EventOf, MembersEvent } from '../engine/history.ts'
import { beyond, beyondSpec } from '../engine/jobs/members.ts'
import type { JobRecord, JobSpec, Lineage } from '../engine/jobs/record.ts'
import type { DeadLetterPage, ReplayParams, ReplayReply } from '../engine/ports/dead-letters.ts'
import type { ListReply } from '../engine/ports/queries.ts'
import type {
  DueSchedules,
  FireReply,
  FireSchedule,
  PutSchedule,
  PutScheduleReply,
  ScheduleRow,
} from '../engine/ports/schedules.ts'
import type { ClaimReply, InsertParams, InsertReply, RecoverReply, StoreDump } from '../engine/ports/store.ts'
import { ofCatchUp, ofSchedule, ofTrigger } from '../engine/schedules/spec.ts'
import type { StoreCall } from '../stores/policy.ts'
import type { BuriedRows } from './buried.ts'
import { digest } from './hash.ts'

/**
 * What is seen of members that only a newer release knows, where two releases are on one store: as they are stated,
 * and in each answer that has the job or the schedule in it.
 */
export function membersOf(
  call: StoreCall,
  params: unknown,
  reply: unknown,
  rows: BuriedRows | null,
): readonly MembersEvent[] {
  switch (call) {
    case 'jobs.insert':
      return inserted(params as InsertParams, reply as InsertReply)
    case 'claims.claim': {
      const claim = reply as ClaimReply
      return claim.kind === 'claimed' ? seenIn(claim.jobs) : []
    }
    case 'claims.recover': {
      const recovery = reply as RecoverReply
      return recovery.kind === 'recovered' ? seenIn(recovery.jobs) : []
    }
    case 'jobs.get':
      return reply === null ? [] : seenIn([reply as JobRecord])
    case 'queries.list':
      return seenIn((reply as ListReply).jobs)
    case 'deadLetters.list':
      return seenIn((reply as DeadLetterPage).jobs)
    case 'deadLetters.replay':
      return replayed(params as ReplayParams, reply as ReplayReply, rows)
    case 'schedules.put':
      return (reply as PutScheduleReply).kind === 'put' ? [ofRow(params as PutSchedule, true)] : []
    case 'schedules.get':
      return reply === null ? [] : [ofRow(reply as ScheduleRow, false)]
    case 'schedules.due':
      return (reply as DueSchedules).schedules.map((row) => ofRow(row, false))
    case 'schedules.fire':
      return fired(params as FireSchedule, reply as FireReply)
    default:
      return []
  }
}

/** What there is in the end. */
export function finalMembersOf({ jobs, schedules }: StoreDump): readonly MembersEvent[] {
  return [...seenIn(jobs), ...schedules.map((row) => ofRow(row, false))]
}

function ofJob(
  spec: JobSpec,
  from: Partial<Pick<EventOf<'job.members'>, 'stated' | 'replays' | 'schedule'>> = {},
): MembersEvent {
  const stock = { stated: false, replays: null, schedule: null }
  return { type: 'job.members', job: spec.id, beyond: digestOf(specParts(spec)), ...stock, ...from }
}

function seenIn(jobs: readonly { readonly spec: JobSpec }[]): MembersEvent[] {
  return jobs.map(({ spec }) => ofJob(spec))
}

function inserted({ jobs }: InsertParams, reply: InsertReply): MembersEvent[] {
  if (reply.kind === 'conflict') return []
  return jobs.filter((_, k) => reply.jobs[k]?.created).map(({ spec }) => ofJob(spec, { stated: true }))
}

function replayed(
  { replays }: ReplayParams,
  { results }: ReplayReply,
  rows: BuriedRows | null,
): MembersEvent[] {
  return replays.flatMap(({ id }, k) => {
    const result = results[k]
    const made = result?.kind === 'replayed' ? rows?.after.get(result.as) : undefined
    return made ? [ofJob(made.spec, { stated: true, replays: id })] : []
  })
}

function fired({ key, slots }: FireSchedule, reply: FireReply): MembersEvent[] {
  if (reply.kind !== 'fired') return []
  const made = slots.filter(({ job }) => reply.created.includes(job.spec.id))
  return made.map(({ job: { spec } }) => ofJob(spec, { stated: true, schedule: key }))
}

function ofRow({ key, spec }: Pick<ScheduleRow, 'key' | 'spec'>, stated: boolean): MembersEvent {
  const row = JSON.parse(spec) as Readonly<Record<'trigger' | 'catchUp' | 'job', object>>
  const own = [beyond(row, ofSchedule), beyond(row.trigger, ofTrigger), beyond(row.catchUp, ofCatchUp)]
  const jobs = digestOf(specParts(row.job as JobSpec))
  return { type: 'schedule.members', key, beyond: digestOf(own), jobs, stated }
}

const ofLineage: ReadonlySet<string> = new Set<keyof Lineage>(['root', 'parent', 'replays'])

function specParts(spec: JobSpec): readonly (object | null)[] {
  return [beyondSpec(spec), beyond(spec.lineage, ofLineage), beyondTexts(spec.metadata)]
}

/** This release has texts in it, and nothing else. */
function beyondTexts(metadata: JobSpec['metadata'] | undefined): object | null {
  const others = Object.entries(metadata ?? {}).filter(([, value]) => typeof value !== 'string')
  return others.length === 0 ? null : Object.fromEntries(others)
}

/** 0: there is nothing. In the order in which stores keep them, but for those of a row. */
function digestOf(parts: readonly (object | null)[]): number {
  if (parts.every((part) => part === null)) return 0
  return digest(JSON.stringify(parts.map((part) => part && Object.entries(part).sort(byName))))
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
