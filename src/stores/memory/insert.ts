import { sameJson } from '../../engine/jobs/json.ts'
import { created } from '../../engine/jobs/transitions.ts'
import type { InsertParams, InsertReply, NewJob } from '../../engine/ports/store.ts'
import { type Content, put } from './content.ts'

export function insert(content: Content, { insertId, jobs }: InsertParams, nowMs: number): InsertReply {
  const conflicts = jobs.filter((job) => clashes(content, job)).map(({ spec }) => spec.id)
  if (conflicts.length > 0) return { kind: 'conflict', ids: conflicts }
  return { kind: 'inserted', jobs: jobs.map((job) => insertOne(content, insertId, job, nowMs)) }
}

function clashes(content: Content, { spec }: NewJob): boolean {
  const there = content.jobs.get(spec.id)?.spec
  return there !== undefined && !(there.kind === spec.kind && sameJson(there.input, spec.input))
}

/** One that is there already stays as it is. */
export function insertOne(
  content: Content,
  insertId: string,
  { spec, due }: NewJob,
  nowMs: number,
): { id: string; created: boolean } {
  const { id } = spec
  if (content.jobs.has(id)) return { id, created: content.insertIds.get(id) === insertId }
  const visibleAtMs = 'atMs' in due ? due.atMs : 'delayMs' in due ? nowMs + due.delayMs : null
  put(content, created(spec, ++content.seq, visibleAtMs, { nowMs, timeline: content.timeline }))
  content.insertIds.set(id, insertId)
  return { id, created: true }
}
