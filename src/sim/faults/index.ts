import { clockJump } from './clock-jump.ts'
import { clockSkew } from './clock-skew.ts'
import { crashFamily } from './crash.ts'
import { deadLetters } from './dead-letters.ts'
import { databaseRestart } from './database-restart.ts'
import { databaseRestored } from './database-restored.ts'
import { drift } from './drift.ts'
import { blockedLoop, timers } from './event-loop.ts'
import type { Family } from './fault.ts'
import {
  handlerHangs,
  handlerIgnoresSignal,
  handlerKills,
  handlerRejectsLate,
  handlerThrowsOdd,
  handlerUnstorable,
} from './handler.ts'
import { aborted, lateRequest, lostReply, lostRequest, slowReply } from './message.ts'
import { partition, refusedConnection, stall } from './network.ts'
import { operator } from './operator.ts'
import { outageLong, outageShort } from './outage.ts'
import { pauseFamily, pauseOnCall } from './pause.ts'
import { diskFull, readOnly } from './refusal.ts'
import { serviceFamilies } from './service.ts'
import { shutdown } from './shutdown.ts'

/** Every fault family of machines, their network and the database, and of operators on jobs and queues. */
export const families: readonly Family[] = [
  lostRequest,
  lostReply,
  lateRequest,
  databaseRestart,
  outageShort,
  outageLong,
  crashFamily,
  shutdown,
  pauseFamily,
  clockSkew,
  slowReply,
  refusedConnection,
  stall,
  clockJump,
  pauseOnCall,
  blockedLoop,
  timers,
  handlerThrowsOdd,
  handlerHangs,
  handlerIgnoresSignal,
  handlerRejectsLate,
  handlerKills,
  handlerUnstorable,
  partition,
  operator,
  readOnly,
  aborted,
  diskFull,
  drift,
]

export { serviceFamilies } from './service.ts'

/** Of operators on what is kept of jobs: only in scenarios that ask for them. */
export const recordFamilies: readonly Family[] = [deadLetters, databaseRestored]

/** Those too that only benches with services of their own have. */
export const allFamilies: readonly Family[] = [...families, ...recordFamilies, ...serviceFamilies]

export function familyNamed(name: string): Family | undefined {
  return allFamilies.find((family) => family.name === name)
}
