import type { Fault } from '../sim/faults/fault.ts'
import { inert } from './format.ts'

/** A fault of a plan in a person's words: which, on what, when, for how long. */
export function faultWords(fault: Fault): string {
  const { id, node, call, atMs, forMs, byMs, skewMs, lateMs, lossMs, command } = fault
  const on = [call, node].filter((part) => part !== undefined).join(' of ')
  const details = [
    command,
    on === '' ? null : `on ${on}`,
    `${call === undefined ? 'at' : 'from'} +${seconds(atMs)}`,
    forMs ? `for ${seconds(forMs)}` : null,
    lossMs ? `put back ${seconds(lossMs)} later` : null,
    byMs ? `by ${seconds(byMs)}` : null,
    skewMs ? `clock off by ${seconds(skewMs)}` : null,
    lateMs ? `${seconds(lateMs)} late` : null,
  ].filter((part) => part !== null && part !== undefined)
  return inert(`${id} (${details.join(', ')})`)
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}
