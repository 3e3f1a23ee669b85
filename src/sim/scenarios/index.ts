import { clockSkewed } from './clock-skew.ts'
import { databaseRestarts } from './database-restart.ts'
import { everything } from './everything.ts'
import { lostClaimReplies } from './lost-claim-replies.ts'
import { outageLongerThanLease } from './outage-longer-than-lease.ts'
import type { Scenario } from './scenario.ts'
import { standard } from './standard.ts'
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
]
