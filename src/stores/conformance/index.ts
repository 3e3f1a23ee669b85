import { adoptCases } from './adopt.ts'
import { queueAgeCases } from './ages.ts'
import { beyondCases } from './beyond.ts'
import { cancelRaceCases } from './cancel-races.ts'
import { cancelCases } from './cancel.ts'
import type { Case, ConformanceSetUp, Need, OpenStore, Runner } from './case.ts'
import { claimOrderCases } from './claim-order.ts'
import { claimCases } from './claim.ts'
import { collectCases } from './collect.ts'
import { commitCases } from './commits.ts'
import { commandCases } from './commands.ts'
import { contentCases } from './content.ts'
import { controlCases } from './control.ts'
import { deadLetterCases } from './dead-letters.ts'
import { dispatchCases } from './dispatch.ts'
import { eventCases } from './events.ts'
import { createFixture } from './fixture.ts'
import { insertCases } from './insert.ts'
import { limitCases } from './limits.ts'
import { logCases } from './logs.ts'
import { namedCases } from './named.ts'
import { noteCases } from './notes.ts'
import { onlyCases } from './only.ts'
import { outcomeCases } from './outcomes.ts'
import { reclaimCases } from './reclaim.ts'
import { queryCases } from './queries.ts'
import { recoverCases } from './recover.ts'
import { renewCases } from './renew.ts'
import { settleCases } from './settle.ts'
import { repeatCases } from './settle-repeat.ts'
import { retentionCases } from './retention.ts'
import { restoredCases } from './restored.ts'
import { soloCases } from './solo.ts'
import { scheduleCases } from './schedules.ts'
import { sizeCases } from './sizes.ts'
import { textCases } from './text.ts'
import { timeoutCases } from './timeouts.ts'
import { watchCases } from './watch.ts'
import { watchedReclaimCases } from './reclaim-watched.ts'

export type { ConformanceSetUp, ControlledTime, OpenStore, RunContext, Runner } from './case.ts'

const facets: Readonly<Record<string, readonly Case[]>> = {
  insert: insertCases,
  claim: claimCases,
  'claim order': claimOrderCases,
  'last eviction': soloCases,
  'claim of one job': onlyCases,
  recover: recoverCases,
  renew: renewCases,
  settle: settleCases,
  'settle again': repeatCases,
  reclaim: reclaimCases,
  'reclaim under the watch': watchedReclaimCases,
  'expire timeouts': timeoutCases,
  adopt: adoptCases,
  'queue ages': queueAgeCases,
  watch: watchCases,
  collect: collectCases,
  cancel: cancelCases,
  'cancel against the end': cancelRaceCases,
  'commit with a handler': commitCases,
  'retry and reschedule': commandCases,
  'progress and checkpoints': noteCases,
  logs: logCases,
  outcomes: outcomeCases,
  'named leases': namedCases,
  'hold and pause': controlCases,
  schedules: scheduleCases,
  'dispatch repair': dispatchCases,
  'events of a job': eventCases,
  'lists and counts': queryCases,
  'dead letters': deadLetterCases,
  retention: retentionCases,
  'restored from a backup': restoredCases,
  'members of a newer release': beyondCases,
  text: textCases,
  limits: limitCases,
  sizes: sizeCases,
  content: contentCases,
}

const lacks: Readonly<Record<Need, (open: OpenStore) => boolean>> = {
  clock: ({ time }) => time === null,
  content: ({ store }) => !('dump' in store),
  unlease: ({ unlease }) => unlease === undefined,
  commits: ({ store }) => store.commits === undefined,
}

const reasons: Readonly<Record<Need, string>> = {
  clock: 'the clock of this store is real',
  content: 'the content of this store cannot be read whole',
  commits: 'the store has no transactions for handlers',
  unlease: 'the set-up brings no way to remove lease rows',
}

/**
 * What every store must do, as tests of whichever runner is handed in:
 * `storeConformance({ describe, test }, { name, open })`.
 */
export function storeConformance({ describe, test }: Runner, setUp: ConformanceSetUp): void {
  describe(`store conformance: ${setUp.name}`, () => {
    for (const [facet, cases] of Object.entries(facets)) {
      describe(facet, () => {
        for (const [index, { name, needs, run }] of cases.entries()) {
          test(name, async (context) => {
            const open = await setUp.open()
            try {
              const missing = [needs ?? []].flat().find((need) => lacks[need](open))
              if (missing) return context.skip(reasons[missing])
              await run(await createFixture(open, `${facet}-${index}`))
            } finally {
              await open.dispose()
            }
          })
        }
      })
    }
  })
}
