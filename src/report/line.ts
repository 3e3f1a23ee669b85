import type { HistoryEvent } from '../engine/history.ts'
import { instant } from '../properties/model/when.ts'
import type { Step } from '../sim/recorder.ts'
import { inert } from './format.ts'

/** Of a run: what happened, or moved. */
export type Line = HistoryEvent | Step

export function lineOf({ atMs }: Pick<Line, 'atMs'>, who: string, words: string): string {
  return `${instant(atMs).padStart(10)}  ${inert(who).padEnd(9)} ${words}`
}

export function whoOf({ node, incarnation }: Pick<Line, 'node' | 'incarnation'>): string {
  return node === 'env' ? 'world' : `${node}#${incarnation}`
}

/** Words without what differs between two that are alike: the times, and what counts the claims of a process. */
export function timeless(words: string): string {
  return words.replaceAll(/\+[\d.]+s|(?<![\w.])[\d.]+ s\b/g, '').replaceAll(/, under [^)]*/g, '')
}
