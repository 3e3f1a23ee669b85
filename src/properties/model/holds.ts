import type { EventOf } from '../../engine/history.ts'
import { type Who, isSame } from './who.ts'

/** Who holds each job, as the store says. */
export type Holds = Map<string, Hold>

export interface Hold {
  epoch: number
  node: string
  incarnation: number
  running: boolean
}

export const holdEvents = [
  'job.claimed',
  'job.settled',
  'job.reclaimed',
  'job.timedOut',
  'job.takenBack',
  'job.removed',
] as const

export function noteHold(holds: Holds, event: EventOf<(typeof holdEvents)[number]>): void {
  if (event.type === 'job.removed') return void holds.delete(event.job)
  const { job, epoch, node, incarnation } = event
  const hold = holds.get(job)
  if (event.type === 'job.claimed') {
    if (!hold) return void holds.set(job, { epoch, node, incarnation, running: true })
    hold.epoch = epoch
    hold.node = node
    hold.incarnation = incarnation
    hold.running = true
  } else if (hold && event.type === 'job.settled') {
    if (event.settled === 'applied' && epoch === hold.epoch) hold.running = false
  } else if (hold) {
    hold.epoch = epoch
    hold.running = false
  }
}

/** Whether this process runs the job at this epoch. */
export function isHolder(hold: Hold | undefined, who: Who & { readonly epoch: number }): hold is Hold {
  return hold !== undefined && hold.running && hold.epoch === who.epoch && isSame(hold, who)
}
