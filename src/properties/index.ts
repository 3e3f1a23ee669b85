import { cancelObserved } from './cancel-observed.ts'
import { capacity } from './capacity.ts'
import { checkpointsKept } from './checkpoints-kept.ts'
import { claimOrder } from './claim-order.ts'
import { convergence } from './convergence.ts'
import { deadLetterIffFailed } from './dead-letter-iff-failed.ts'
import { deadWorkerRecovered } from './dead-worker-recovered.ts'
import { doubtClaimsNothing } from './doubt-claims-nothing.ts'
import { effectOnce } from './effect-once.ts'
import { exactBudgets } from './exact-budgets.ts'
import { exactlyOnceClaim } from './exactly-once-claim.ts'
import { fencing } from './fencing.ts'
import { handlerTruth } from './handler-truth.ts'
import { healthTruth } from './health-truth.ts'
import { holdHolds } from './hold-holds.ts'
import { idTruth } from './id-truth.ts'
import { leaseCertainty } from './lease-certainty.ts'
import { leaseLasts } from './lease-lasts.ts'
import { listingTellsTheTruth } from './listing-tells-the-truth.ts'
import { logLinesOnceInOrder } from './log-lines.ts'
import { lostReplyCostsNothing } from './lost-reply-costs-nothing.ts'
import { marginPays } from './margin-pays.ts'
import { namedLeaseExclusive } from './named-lease-exclusive.ts'
import { noLostJob } from './no-lost-job.ts'
import { noStarvation } from './no-starvation.ts'
import { oldTimelineRefused } from './old-timeline-refused.ts'
import { oneFiringPerSlot } from './one-firing-per-slot.ts'
import { oneStartThroughOutage } from './one-start-through-outage.ts'
import { ownWorkOnly } from './own-work-only.ts'
import { postOutageGrace } from './post-outage-grace.ts'
import type { Property } from './property.ts'
import { replayAllEnds } from './replay-all-ends.ts'
import { replayedOnceAndWhole } from './replayed-once-and-whole.ts'
import { resultTruth } from './result-truth.ts'
import { retentionTakesEndedOnly } from './retention-takes-ended-only.ts'
import { shutdownCostsNothing } from './shutdown-costs-nothing.ts'
import { signalTruth } from './signal-truth.ts'
import { singleTerminalState } from './single-terminal-state.ts'
import { sometimesProperties } from './sometimes.ts'
import { sweepsInTime } from './sweeps-in-time.ts'
import { timelineFences } from './timeline-fences.ts'
import { timeoutEnforced } from './timeout-enforced.ts'
import { unknownMembersSurvive } from './unknown-members-survive.ts'
import { versionsCount } from './versions-count.ts'

export { type Property, type Verdict, property } from './property.ts'
export {
  cancelObserved,
  capacity,
  checkpointsKept,
  claimOrder,
  convergence,
  deadLetterIffFailed,
  deadWorkerRecovered,
  doubtClaimsNothing,
  effectOnce,
  exactBudgets,
  exactlyOnceClaim,
  fencing,
  handlerTruth,
  healthTruth,
  holdHolds,
  idTruth,
  leaseCertainty,
  leaseLasts,
  listingTellsTheTruth,
  logLinesOnceInOrder,
  lostReplyCostsNothing,
  marginPays,
  namedLeaseExclusive,
  noLostJob,
  noStarvation,
  oldTimelineRefused,
  oneFiringPerSlot,
  oneStartThroughOutage,
  ownWorkOnly,
  postOutageGrace,
  replayAllEnds,
  replayedOnceAndWhole,
  resultTruth,
  retentionTakesEndedOnly,
  shutdownCostsNothing,
  signalTruth,
  singleTerminalState,
  sometimesProperties,
  sweepsInTime,
  timelineFences,
  timeoutEnforced,
  unknownMembersSurvive,
  versionsCount,
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
  oneFiringPerSlot,
  effectOnce,
  shutdownCostsNothing,
  noStarvation,
  doubtClaimsNothing,
  healthTruth,
  idTruth,
  leaseLasts,
  marginPays,
  ownWorkOnly,
  sweepsInTime,
  versionsCount,
  listingTellsTheTruth,
  deadLetterIffFailed,
  replayedOnceAndWhole,
  replayAllEnds,
  logLinesOnceInOrder,
  resultTruth,
  retentionTakesEndedOnly,
  unknownMembersSurvive,
  timelineFences,
  oldTimelineRefused,
  ...sometimesProperties,
]
