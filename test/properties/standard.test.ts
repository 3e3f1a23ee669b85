import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as all from '../../src/properties/index.ts'
import { type Draft, judge } from './dsl.ts'
import { legal } from './legal.ts'
import { soup } from './soup.ts'

const { standardProperties, exactBudgets, exactlyOnceClaim, fencing, noLostJob, singleTerminalState } = all
const { cancelObserved, checkpointsKept, deadLetterIffFailed, idTruth, versionsCount } = all
const each = standardProperties.map((property) => [property.name, property] as const)

describe('the standard properties', () => {
  test('have names of their own, in the order of reports', () => {
    const names = standardProperties.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.slice(0, 10)).toEqual([
      'exactly-once-claim',
      'fencing',
      'single-terminal-state',
      'no-lost-job',
      'exact-budgets',
      'post-outage-grace',
      'one-start-through-outage',
      'dead-worker-recovered',
      'lost-reply-costs-nothing',
      'convergence',
    ])
  })

  test('say each what they mean and what they cannot see', () => {
    for (const property of standardProperties) {
      expect(property.says).toMatch(/^[A-Z].+\.$/)
      expect(property.blindSpot).toMatch(/^[A-Z].+\.$/)
    }
    expect(new Set(standardProperties.map(({ blindSpot }) => blindSpot)).size).toBe(standardProperties.length)
  })

  test('ask for each type of event once', () => {
    for (const { on } of standardProperties) expect(new Set(on).size).toBe(on.length)
  })

  test.each(each)(
    '%s comes to the same verdict when its state is copied in the middle of a run',
    (_name, property) => {
      fc.assert(
        fc.property(soup, fc.nat(120), (history, copyAt) => {
          expect(judge(property, history, copyAt % history.length)).toEqual(judge(property, history))
        }),
      )
    },
  )

  test.each(each)('%s keeps its state in one run apart from another', (_name, property) => {
    fc.assert(
      fc.property(soup, soup, (one, other) => {
        const alone = judge(property, one)
        judge(property, other)
        expect(judge(property, one)).toEqual(alone)
      }),
      { numRuns: 20 },
    )
  })
})

describe('a history that a correct store could have written', () => {
  const structural = [exactlyOnceClaim, fencing, singleTerminalState, noLostJob, exactBudgets, versionsCount]
  const kept = [...structural, cancelObserved, checkpointsKept, deadLetterIffFailed, idTruth]

  test.each(kept.map((property) => [property.name, property] as const))(
    'is accepted by %s',
    (_name, property) => {
      fc.assert(
        fc.property(legal, (history) => {
          expect(judge(property, history).messages).toEqual([])
        }),
      )
    },
  )

  test('is refused by some property once a claim, a charge or an end is taken out of it', () => {
    fc.assert(
      fc.property(legal, fc.nat(), (history, pick) => {
        const changes = history.flatMap((draft, k) => (mattered(history, draft, k) ? [k] : []))
        fc.pre(changes.length > 0)
        const without = history.toSpliced(changes[pick % changes.length] ?? 0, 1)
        const kinds = structural.flatMap((property) => judge(property, without).kinds)
        expect(kinds).not.toEqual([])
      }),
    )
  })
})

/**
 * Releases charge nothing, a settle whose repeat follows is made good by it, and a retry by hand starts all counts
 * anew: what came before may be missing unseen.
 */
function mattered(history: readonly Draft[], draft: Draft, at: number): boolean {
  if (history.slice(at + 1).some((later) => later.type === 'job.commanded' && later.applied)) return false
  if (draft.type === 'job.claimed' || draft.type === 'job.reclaimed' || draft.type === 'job.timedOut')
    return true
  if (draft.type !== 'job.settled' || draft.settled !== 'applied' || draft.repeated) return false
  const repeat = history
    .slice(at + 1)
    .some((later) => later.type === 'job.settled' && later.epoch === draft.epoch)
  return draft.outcome !== 'released' && !repeat
}
