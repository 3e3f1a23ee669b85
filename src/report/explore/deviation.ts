import type { Judged } from '../../sim/judge.ts'
import type { Pending, Taken } from '../../sim/explore/taken.ts'
import type { Order } from '../../sim/explore/topology.ts'
import type { Fault } from '../../sim/faults/fault.ts'
import { inert, plural } from '../format.ts'

/** The deviations of a schedule in a person's words: where each leaves the default, and what it does. */
export function deviationsOf({ taken = [] }: Pick<Judged, 'taken'>): readonly string[] {
  return taken.map(deviationWords)
}

export function deviationWords({ deviation, atMs, next, first }: Taken): string {
  const when = `+${(atMs / 1_000).toFixed(3)}s, step ${deviation.step}`
  const what =
    deviation.what === 'swap'
      ? `${pendingWords(first)} goes first, before ${pendingWords(next)}`
      : faultWords(deviation.fault, deviation.order, next)
  return inert(`${when}: ${what}`)
}

/** Which run it was: that of a seed, or a schedule. */
export function runWords({
  seed,
  result,
}: {
  readonly seed: string
  readonly result: Pick<Judged, 'deviations'> | null
}): string {
  return result?.deviations
    ? `schedule with ${plural(result.deviations.length, 'deviation')}`
    : `seed ${seed}`
}

function pendingWords(pending: Pending | null): string {
  if (pending === null) return 'nothing'
  const { node, what, label } = pending
  const of = node === null ? '' : ` of ${node}`
  if (what === 'reply') return `the reply to ${label}${of}`
  return what === 'environment' ? `'${label}'` : `the ${what} ${label}${of}`
}

function faultWords(fault: Fault, order: Order | null, next: Pending): string {
  const { family, node = 'a process', forMs = 0, lands } = fault
  const message = pendingWords(next)
  const before = `just before ${message}`
  switch (family) {
    case 'lost-request':
    case 'lost-reply':
      return `${message} is lost`
    case 'late-request':
    case 'slow-reply':
      return `${message} comes ${seconds(forMs)} late`
    case 'pause':
      return `${node} stands still for ${seconds(forMs)}, ${before}`
    case 'crash':
      return `${node} dies ${before}, and starts again after ${seconds(forMs)}`
    case 'shutdown':
      return `${node} is asked to stop ${before}, and starts again ${seconds(forMs)} after it has`
    case 'database-restart':
      return `the database restarts for ${seconds(forMs)} as ${message} reaches it; what is in flight ${lands ? 'takes effect' : 'is lost'}`
    case 'outage-long':
      return `the database is away for ${seconds(forMs)} as ${message} reaches it`
    case 'operator':
      return `an operator ${orderWords(order)}, ${before}`
    default:
      return `${family}, ${before}`
  }
}

function orderWords(order: Order | null): string {
  if (order === null) return 'acts'
  const { command, job, through } = order
  const where = through === undefined ? '' : ` through ${through}`
  return job === undefined ? `says ${command}${where}` : `says ${command} of ${job}${where}`
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`
}
