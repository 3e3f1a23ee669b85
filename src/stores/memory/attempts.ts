import type { Progress } from '../../engine/jobs/record.ts'
import { meant, progressed, runsAt } from '../../engine/jobs/transitions.ts'
import type { Fenced, JobEpoch } from '../../engine/ports/store.ts'
import { type Content, byText, put } from './content.ts'

/** What the holder of an attempt writes while it runs: all of it under the fence. */

export function progress(content: Content, params: JobEpoch & Progress, nowMs: number): Fenced {
  const { id, epoch, seq, percent, phase } = params
  const job = meant(content.jobs.get(id), seq)
  const changed = job ? progressed(job, epoch, { percent, phase }, nowMs) : null
  if (changed) put(content, changed)
  return { applied: changed !== null }
}

export function checkpoint(
  content: Content,
  { id, epoch, seq, key, value }: JobEpoch & { readonly key: string; readonly value: string },
): Fenced {
  if (!runsAt(meant(content.jobs.get(id), seq), epoch)) return { applied: false }
  content.checkpoints.set(id, new Map(content.checkpoints.get(id)).set(key, value))
  return { applied: true }
}

export function checkpoints(
  content: Content,
  { id }: { readonly id: string },
): { key: string; value: string }[] {
  return [...(content.checkpoints.get(id) ?? [])]
    .map(([key, value]) => ({ key, value }))
    .sort((a, b) => byText(a.key, b.key))
}
