import type { Violation } from '../sim/recorder.ts'
import type { Judged } from '../sim/judge.ts'
import { concernOf } from './concern.ts'
import { createRows } from './rows.ts'
import type { Line } from './line.ts'
import { createTeller } from './teller.ts'

const linesMax = 20

/** What happened to the subject of a violation until then, and what decided it around: one line an event. */
export function storyOf(
  { story, shrunk, deviations }: Pick<Judged, 'story' | 'shrunk' | 'deviations'>,
  { subject, atMs, on }: Violation,
): string[] {
  const tell = createTeller()
  // What a schedule or a shrunk run has of them, it takes.
  const weigh = concernOf(subject, shrunk !== null || deviations !== undefined)
  const rows = createRows()
  let maybe: { at: number; line: Line; words: string }[] = []
  for (const [at, line] of (story ?? []).entries()) {
    if (line.atMs > atMs) break
    const words = tell(line)
    const weight = weigh(line)
    // That the faults are over explains only what had to be so in the end.
    if ('type' in line && line.type === 'run.healed' && on !== 'run.ended') continue
    if (weight === 'maybe') maybe.push({ at, line, words })
    if ('type' in line && line.type === 'enqueue.acknowledged') {
      if (weight !== 'none') for (const one of maybe) rows.add({ ...one, weight: 'decides' })
      maybe = []
    }
    if (weight !== 'none' && weight !== 'maybe') rows.add({ at, line, words, weight })
  }
  return rows.lines(linesMax)
}
