import { convergence } from './convergence.ts'
import { deadWorkerRecovered } from './dead-worker-recovered.ts'
import { exactBudgets } from './exact-budgets.ts'
import { exactlyOnceClaim } from './exactly-once-claim.ts'
import { fencing } from './fencing.ts'
import { lostReplyCostsNothing } from './lost-reply-costs-nothing.ts'
import { noLostJob } from './no-lost-job.ts'
import { oneStartThroughOutage } from './one-start-through-outage.ts'
import { postOutageGrace } from './post-outage-grace.ts'
import type { Property } from './property.ts'
import { singleTerminalState } from './single-terminal-state.ts'
import { sometimesProperties } from './sometimes.ts'

export { type Property, type Verdict, property } from './property.ts'
export {
  convergence,
  deadWorkerRecovered,
  exactBudgets,
  exactlyOnceClaim,
  fencing,
  lostReplyCostsNothing,
  noLostJob,
  oneStartThroughOutage,
  postOutageGrace,
  singleTerminalState,
  sometimesProperties,
}

/** What every run is judged by, in the order of reports. */
export const standardProperties: readonly Property[] = [
  exactlyOnceClaim,
  fencing,
  singleTerminalState,
  noLostJob,
  exactBudgets,
  postOutageGrace,
  oneStartThroughOutage,
  deadWorkerRecovered,
  lostReplyCostsNothing,
  convergence,
  ...sometimesProperties,
]
