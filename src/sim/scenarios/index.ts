import { chatty } from './chatty.ts'
import { clockJumps } from './clock-jump.ts'
import { clockSkewed } from './clock-skew.ts'
import { commits } from './commits.ts'
import { crowded } from './crowded.ts'
import { databaseRestarts } from './database-restart.ts'
import { deadLetters } from './dead-letters.ts'
import { drifting } from './drifting.ts'
import { everything } from './everything.ts'
import { exclusiveWork } from './exclusive-work.ts'
import { failovers } from './failover.ts'
import { longHaul } from './long-haul.ts'
import { lostClaimReplies } from './lost-claim-replies.ts'
import { misbehavingHandlers } from './misbehaving-handlers.ts'
import { mixedFleet } from './mixed-fleet.ts'
import { nightly } from './nightly.ts'
import { operators } from './operators.ts'
import { outageLongerThanLease } from './outage-longer-than-lease.ts'
import { producers } from './producers.ts'
import { refusedResults } from './refused-results.ts'
import { restoredBackup } from './restored-backup.ts'
import { rollingUpgrade } from './rolling-upgrade.ts'
import { saturated } from './saturated.ts'
import type { Scenario } from './scenario.ts'
import { shortKept } from './short-kept.ts'
import { slowNetwork } from './slow-network.ts'
import { sparse } from './sparse.ts'
import { standard } from './standard.ts'
import { stuckHandlers } from './stuck-handlers.ts'
import { tightMargin } from './tight-margin.ts'
import { zombieWorker } from './zombie-worker.ts'

/** In the order that seeds are dealt to them. */
export const scenarios: readonly Scenario[] = [
  standard,
  lostClaimReplies,
  databaseRestarts,
  outageLongerThanLease,
  zombieWorker,
  clockSkewed,
  everything,
  operators,
  misbehavingHandlers,
  slowNetwork,
  clockJumps,
  exclusiveWork,
  saturated,
  sparse,
  failovers,
  drifting,
  longHaul,
  crowded,
  producers,
  mixedFleet,
  tightMargin,
  stuckHandlers,
  refusedResults,
  commits,
  nightly,
  deadLetters,
  chatty,
  shortKept,
  rollingUpgrade,
  restoredBackup,
]
