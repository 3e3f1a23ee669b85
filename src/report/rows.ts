import { instant } from '../properties/model/when.ts'
import type { Weight } from './concern.ts'
import { type Line, lineOf, timeless, whoOf } from './line.ts'

/** A line that a story has room for, or has not. */
export interface Entry {
  /** Its place in the run. */
  readonly at: number
  readonly line: Line
  readonly words: string
  readonly weight: Weight
}

/** Entries that are alike, as the last of them. */
interface Row extends Entry {
  readonly who: string
  readonly fromMs: number
  readonly count: number
}

export interface Rows {
  add(entry: Entry): void
  /** In the order of the run; at most so many, by their weight, and those at the end whatever they are. */
  lines(max: number): string[]
}

/** Which process does it is all one. */
const sweeps: ReadonlySet<string> = new Set(['watch.moved', 'reclaim.heldBack'])
const regular: ReadonlySet<string> = new Set([...sweeps, 'lease.renewed', 'job.noted', 'store.failed'])
const weights: readonly Weight[] = ['none', 'maybe', 'around', 'told', 'decides']
const lastKept = 5

/** Folds what is alike, between two entries that stand for themselves. */
export function createRows(): Rows {
  const rows = new Map<string, Row>()
  let own = 0
  return {
    add: (entry) => {
      const { line } = entry
      const type = 'type' in line ? line.type : line.step
      const who = whoOf(line)
      const folds = regular.has(type) && !('kind' in line && line.kind === 'restarted')
      if (!folds) own += 1
      const alike = folds ? `${sweeps.has(type) ? '' : who} ${timeless(entry.words)}` : ''
      const key = `${own} ${alike}`
      const row = rows.get(key)
      rows.set(key, {
        ...entry,
        who: row && row.who !== who ? 'several' : who,
        fromMs: row?.fromMs ?? line.atMs,
        count: (row?.count ?? 0) + 1,
      })
    },
    lines: (max) => {
      const all = [...rows.values()].sort((a, b) => a.at - b.at)
      const lastFrom = all.at(-lastKept)?.at ?? 0
      const rankOf = ({ at, weight }: Row): number =>
        at >= lastFrom ? weights.length : weights.indexOf(weight)
      const kept = new Set([...all].sort((a, b) => rankOf(b) - rankOf(a) || b.at - a.at).slice(0, max))
      const lines = all.filter((row) => kept.has(row)).map(rowLine)
      const left = all.length - lines.length
      return left > 0 ? [`... ${left} more lines: see replay --trace`, ...lines] : lines
    },
  }
}

function rowLine({ line, who, words, count, fromMs }: Row): string {
  const row = count === 1 ? words : `${count} x ${words} (${instant(fromMs)} .. ${instant(line.atMs)})`
  return lineOf(line, who, row)
}
