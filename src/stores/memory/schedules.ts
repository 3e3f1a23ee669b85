import type {
  DueSchedules,
  FireReply,
  FireSchedule,
  PauseSchedule,
  PutSchedule,
  PutScheduleReply,
  ScheduleRow,
} from '../../engine/ports/schedules.ts'
import { type Content, byText } from './content.ts'
import { insertOne } from './insert.ts'

export function put(
  { schedules }: Content,
  { key, version, command, spec, nextAtMs }: PutSchedule,
  nowMs: number,
): PutScheduleReply {
  const there = schedules.get(key)
  if (there?.version === command) return { kind: 'put' }
  if (there?.spec === spec) return { kind: 'same' }
  if ((there?.version ?? null) !== version) return { kind: 'refused' }
  const fresh = { key, paused: false, lastAtMs: null, madeAtMs: nowMs }
  schedules.set(key, { ...(there ?? fresh), version: command, spec, nextAtMs })
  return { kind: 'put' }
}

export function remove(
  { schedules }: Content,
  { key }: { readonly key: string },
): { readonly removed: boolean } {
  return { removed: schedules.delete(key) }
}

export function list(
  content: Content,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): { readonly schedules: readonly ScheduleRow[] } {
  const behind = inOrder(content).filter(({ key }) => after === null || byText(key, after) > 0)
  return { schedules: behind.slice(0, Math.max(0, limit)) }
}

function inOrder({ schedules }: Content): ScheduleRow[] {
  return [...schedules.values()].sort((a, b) => byText(a.key, b.key))
}

export function pause(
  { schedules }: Content,
  { key, version, command, paused, nextAtMs }: PauseSchedule,
): { readonly applied: boolean } {
  const there = schedules.get(key)
  if (there?.version === command) return { applied: true }
  if (there?.version !== version) return { applied: false }
  const next = nextAtMs === undefined ? there.nextAtMs : nextAtMs
  schedules.set(key, { ...there, version: command, paused, nextAtMs: next })
  return { applied: true }
}

export function due(content: Content, { limit }: { readonly limit: number }, nowMs: number): DueSchedules {
  const ahead: number[] = []
  const ready: (ScheduleRow & { readonly nextAtMs: number })[] = []
  for (const row of inOrder(content)) {
    const { paused, nextAtMs } = row
    if (paused || nextAtMs === null) continue
    if (nextAtMs <= nowMs) ready.push({ ...row, nextAtMs })
    else ahead.push(nextAtMs)
  }
  const schedules = ready.sort((a, b) => a.nextAtMs - b.nextAtMs).slice(0, Math.max(0, limit))
  return { nowMs, schedules, nextInMs: ahead.length === 0 ? null : Math.min(...ahead) - nowMs }
}

export function fire(
  content: Content,
  { key, version, command, slots, nextAtMs }: FireSchedule,
  nowMs: number,
): FireReply {
  const there = content.schedules.get(key)
  if (there?.version === command) return { kind: 'stands' }
  if (there?.version !== version || there.paused) return { kind: 'lost' }
  if (slots.some(({ atMs }) => atMs > nowMs)) return { kind: 'early' }
  const made = slots.map(({ job }) => insertOne(content, command, job, nowMs))
  const lastAtMs = slots.length === 0 ? there.lastAtMs : Math.max(...slots.map(({ atMs }) => atMs))
  content.schedules.set(key, { ...there, version: command, nextAtMs, lastAtMs })
  return { kind: 'fired', created: made.filter(({ created }) => created).map(({ id }) => id) }
}
