import type { JobRecord } from '../../engine/jobs/record.ts'
import { isSpent } from '../../engine/jobs/spent.ts'
import { type SweepParams, type SweepReply, sweepLimitMax } from '../../engine/ports/retention.ts'
import { goingAtOnce, isYoung } from '../retention.ts'
import { type Content, byText } from './content.ts'

/** The map of jobs is in order of insertion: an id that comes again after its job was removed comes last. */
export function sweep(
  content: Content,
  { after, limit, deadLetterMs, olderMs }: SweepParams,
  nowMs: number,
): SweepReply {
  const most = Math.min(limit, sweepLimitMax)
  const from = after === null ? 0 : Number(after)
  const looked: JobRecord[] = []
  let over = most <= 0
  for (const job of content.jobs.values()) {
    if (over || looked.length >= most) break
    if (job.seq <= from) continue
    over = isYoung(job.createdAtMs, olderMs, nowMs)
    if (!over) looked.push(job)
  }
  const spent = looked.filter((job) => isSpent(job, deadLetterMs, nowMs))
  const going = goingAtOnce(spent.map(({ spec }) => content.logs.get(spec.id)?.lines.length ?? 0))
  const left = spent[going]
  if (left) looked.splice(looked.indexOf(left))
  const gone = spent.slice(0, going)
  for (const { spec } of gone) forget(content, spec.id)
  const last = !left && (looked.length < most || over) ? null : looked.at(-1)
  return {
    removed: gone.map(({ spec }) => spec.id),
    looked: looked.length,
    after: last ? String(last.seq) : null,
  }
}

/** What hangs on a job goes with it. */
function forget(content: Content, id: string): void {
  content.jobs.delete(id)
  content.insertIds.delete(id)
  content.dead.delete(id)
  content.checkpoints.delete(id)
  content.logs.delete(id)
}

export function sweepLeases(
  { named }: Content,
  { limit, lapsedMs }: { readonly limit: number; readonly lapsedMs: number },
  nowMs: number,
): { removed: number } {
  const lapsed = [...named.values()]
    .filter(({ expiresAtMs }) => nowMs - expiresAtMs >= lapsedMs)
    .sort((a, b) => a.expiresAtMs - b.expiresAtMs || byText(a.key, b.key))
  const gone = lapsed.slice(0, Math.max(0, limit))
  for (const { key } of gone) named.delete(key)
  return { removed: gone.length }
}
