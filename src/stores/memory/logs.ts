import { meant, runsAt } from '../../engine/jobs/transitions.ts'
import { type LogAppend, type LogLine, type LogPage, logLinesMax } from '../../engine/ports/logs.ts'
import type { Fenced } from '../../engine/ports/store.ts'
import { requireLines } from '../log-lines.ts'
import type { Content } from './content.ts'

export function append(content: Content, { id, epoch, seq, lines }: LogAppend, nowMs: number): Fenced {
  requireLines(lines)
  if (!runsAt(meant(content.jobs.get(id), seq), epoch)) return { applied: false }
  const log = content.logs.get(id) ?? { next: 0, epoch, line: -1, lines: [] }
  const taken = log.epoch === epoch ? log.line : -1
  const fresh = lines.filter(({ line }) => line > taken)
  const added = fresh.map(
    ({ level, text }, k): LogLine => ({ n: log.next + k, atMs: nowMs, epoch, level, text }),
  )
  content.logs.set(id, {
    id,
    next: log.next + added.length,
    epoch,
    line: fresh.at(-1)?.line ?? taken,
    lines: [...log.lines, ...added].slice(-logLinesMax),
  })
  return { applied: true }
}

export function page(
  content: Content,
  { id, from, limit }: { readonly id: string; readonly from: number; readonly limit: number },
): LogPage {
  return pageOf(content, id, (lines, dropped) => {
    const start = Math.max(0, from - dropped)
    return lines.slice(start, start + Math.max(0, limit))
  })
}

export function tail(
  content: Content,
  { id, limit }: { readonly id: string; readonly limit: number },
): LogPage {
  return pageOf(content, id, (lines) => (limit > 0 ? lines.slice(-limit) : []))
}

function pageOf(
  content: Content,
  id: string,
  cut: (lines: readonly LogLine[], dropped: number) => readonly LogLine[],
): LogPage {
  const { next, lines } = content.logs.get(id) ?? { next: 0, lines: [] }
  const dropped = next - lines.length
  return { lines: cut(lines, dropped), total: next, dropped, state: content.jobs.get(id)?.state ?? null }
}
