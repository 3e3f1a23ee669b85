import { clockSkew } from './clock-skew.ts'
import { crashFamily } from './crash.ts'
import { databaseRestart } from './database-restart.ts'
import type { Family } from './fault.ts'
import { lateRequest, lostReply, lostRequest } from './message.ts'
import { outageLong, outageShort } from './outage.ts'
import { pauseFamily } from './pause.ts'
import { shutdown } from './shutdown.ts'

/** Every fault family there is. */
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
]

export function familyNamed(name: string): Family | undefined {
  return families.find((family) => family.name === name)
}
