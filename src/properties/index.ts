import { cancelObserved } from './cancel-observed.ts'
import { capacity } from './capacity.ts'
import { checkpointsKept } from './checkpoints-kept.ts'
import { claimOrder } from './claim-order.ts'
import { convergence } from './convergence.ts'
import { deadWorkerRecovered } from './dead-worker-recovered.ts'
import { exactBudgets } from './exact-budgets.ts'
import { exactlyOnceClaim } from './exactly-once-claim.ts'
import { fencing } from './fencing.ts'
import { handlerTruth } from './handler-truth.ts'
import { holdHolds } from './hold-holds.ts'
import { leaseCertainty } from './lease-certainty.ts'
import { lostReplyCostsNothing } from './lost-reply-costs-nothing.ts'
import { namedLeaseExclusive } from './named-lease-exclusive.ts'
import { noLostJob } from './no-lost-job.ts'
import { noStarvation } from './no-starvation.ts'
import { oneStartThroughOutage } from './one-start-through-outage.ts'
import { postOutageGrace } from './post-outage-grace.ts'
import type { Property } from './property.ts'
import { shutdownCostsNothing } from './shutdown-costs-nothing.ts'
import { signalTruth } from './signal-truth.ts'
import { singleTerminalState } from './single-terminal-state.ts'
import { sometimesProperties } from './sometimes.ts'
import { timeoutEnforced } from './timeout-enforced.ts'

export { type Property, type Verdict, property } from './property.ts'
export {
  cancelObserved,
  capacity,
  checkpointsKept,
  claimOrder,
  convergence,
  deadWorkerRecovered,
  exactBudgets,
  exactlyOnceClaim,
  fencing,
  handlerTruth,
  holdHolds,
  leaseCertainty,
  lostReplyCostsNothing,
  namedLeaseExclusive,
  noLostJob,
  noStarvation,
  oneStartThroughOutage,
  postOutageGrace,
  shutdownCostsNothing,
  signalTruth,
  singleTerminalState,
  sometimesProperties,
  timeoutEnforced,
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
  claimOrder,
  capacity,
  leaseCertainty,
  handlerTruth,
  signalTruth,
  timeoutEnforced,
  cancelObserved,
  holdHolds,
  checkpointsKept,
  namedLeaseExclusive,
  shutdownCostsNothing,
  noStarvation,
  ...sometimesProperties,
]
