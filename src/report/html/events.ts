import type { Violation } from '../../sim/recorder.ts'
import type { RunResult } from '../../sim/run.ts'
import { faultWords } from '../fault.ts'
import { isEnvironment } from '../concern.ts'
import type { Line } from '../line.ts'
import { createTeller } from '../teller.ts'
import { clipped } from './markup.ts'

/** What the page draws and lists of one failing run: plain data. */
export interface Told {
  /** A job, or a node. */
  readonly subject: string
  /** The lanes beside those of the faults and the database. */
  readonly nodes: readonly string[]
  readonly toMs: number
  /** When it showed. */
  readonly atMs: number
  /** The place among `events` of the event that showed it; null if it was none. */
  readonly violated: number | null
  readonly faults: readonly {
    readonly id: string
    readonly family: string
    readonly words: string
    readonly forMs: number
  }[]
  /** In their order: the number in the run, what happened in words, and the event itself. */
  readonly events: readonly (readonly [number, string, Line])[]
  /** How many there were in all, and what became of the rest. */
  readonly total: number
  readonly left: string | null
}

/** Longer texts in an event are cut. In characters. */
const textMax = 2_000

/** All of a run that a page can hold, the events about the subject and its surroundings first. */
export function toldOf(result: RunResult, violation: Violation, bytesMax: number): Told {
  const story: readonly Line[] = result.story ?? []
  const violatedAt = placeOf(story, violation)
  const words = story.map(createTeller())
  const told = (at: number): Told['events'][number] => {
    return [at + 1, clipped(words[at] ?? '', textMax), cut(story[at]) as Line]
  }
  const kept = selected(
    story,
    violation,
    violatedAt ?? story.length,
    (at) => JSON.stringify(told(at)).length,
    bytesMax,
  )
  return {
    subject: violation.subject,
    nodes: [...new Set(story.map(({ node }) => node))].filter((node) => node !== 'env').sort(byName),
    toMs: story.at(-1)?.atMs ?? violation.atMs,
    atMs: violation.atMs,
    violated: violatedAt === null ? null : kept.indexOf(violatedAt),
    faults: result.plan.map((fault) => ({
      id: clipped(fault.id, textMax),
      family: fault.family,
      words: clipped(faultWords(fault), textMax),
      forMs: fault.forMs ?? 0,
    })),
    events: kept.map(told),
    total: story.length,
    left: leftOf(story, new Set(kept), violation),
  }
}

/** The event of that type that came after so many steps. */
function placeOf(story: readonly Line[], { on, atMs, event }: Violation): number | null {
  let steps = 0
  for (const [k, line] of story.entries()) {
    if ('step' in line) steps += 1
    else if (steps === event && line.type === on && line.atMs === atMs) return k
  }
  return null
}

/** 0 about the subject, and what befell the world; 1 other jobs; 2 messages and timers. */
function rankOf(line: Line, { subject }: Violation): 0 | 1 | 2 {
  if ('step' in line) return 2
  const about = ('job' in line && line.job === subject) || line.node === subject
  return about || isEnvironment(line) ? 0 : 1
}

/** The places of what is kept: by rank, then by how near it is to the violation. */
function selected(
  story: readonly Line[],
  violation: Violation,
  around: number,
  bytesOf: (at: number) => number,
  bytesMax: number,
): readonly number[] {
  const order = story
    .map((line, at) => ({ at, rank: rankOf(line, violation), far: Math.abs(at - around) }))
    .sort((a, b) => a.rank - b.rank || a.far - b.far)
  const kept: number[] = []
  let bytes = 0
  for (const { at } of order) {
    bytes += bytesOf(at)
    if (bytes > bytesMax) break
    kept.push(at)
  }
  return kept.sort((a, b) => a - b)
}

/** The same value with its long texts cut. */
function cut(value: unknown): unknown {
  if (typeof value === 'string') return clipped(value, textMax)
  if (Array.isArray(value)) return value.slice(0, 200).map(cut)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [clipped(key, textMax), cut(of)]))
}

function leftOf(story: readonly Line[], kept: ReadonlySet<number>, violation: Violation): string | null {
  const counts = [0, 0, 0]
  for (const [at, line] of story.entries()) {
    const rank = rankOf(line, violation)
    if (!kept.has(at)) counts[rank] = (counts[rank] ?? 0) + 1
  }
  const words = ['about the subject and the world', 'about others', 'messages and timers']
  const parts = counts.flatMap((count, rank) =>
    count > 0 ? [`${count.toLocaleString('en-US')} ${words[rank]}`] : [],
  )
  return parts.length === 0
    ? null
    : `Left out, as farthest from the failure: ${parts.join('; ')}. The replay command with --trace prints them all.`
}

function byName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
