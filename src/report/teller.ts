import type { HistoryEvent } from '../engine/history.ts'
import { inert } from './format.ts'
import { createGivenUp } from './given-up.ts'
import { createKnown } from './known.ts'
import { type Line, lineOf, whoOf } from './line.ts'
import { wordsOf } from './words.ts'

/**
 * Says what happened, without when and where, of one line of a run after the other, from the first on: what a time or
 * a message means hangs on those before it.
 */
export function createTeller(): (line: Line) => string {
  const known = createKnown()
  const givenUp = createGivenUp()
  let late = ''
  return (line) => {
    const mark = givenUp(line)
    if ('step' in line) {
      late = mark
      return inert([line.step, line.label, line.outcome, late].filter((part) => part !== '').join(' '))
    }
    const words = wordsOf(line, known)
    known.note(line)
    return inert(late !== '' && isOfStore(line) ? `${words} ${late}` : words)
  }
}

/** Every line of a run, as `--trace` prints it. */
export function storyLines(story: readonly Line[]): string[] {
  const tell = createTeller()
  return story.map((line) => lineOf(line, whoOf(line), tell(line)))
}

/** What an execution did to the store, which is told right after it. */
function isOfStore({ type }: HistoryEvent): boolean {
  return /^(job|lease|claim|reclaim|watch|named|insert|control|timeline|schedule|log)\./.test(type)
}
