import type { ExploredFamily, FaultOption, Order } from '../../../../src/sim/explore/topology.ts'

/** Where a schedule leaves the default: before the first step from `atMs` on at which there is such a deviation. */
export interface Stroke {
  readonly atMs: number
  readonly family: ExploredFamily | 'swap'
  readonly forMs?: number
  readonly node?: string
  readonly call?: string
  readonly order?: Order
  /** Not the first such step, but the one after so many. */
  readonly skip?: number
}

type Strike = (atMs: number, call: string, node?: string) => Stroke
type Lasting = (atMs: number, call: string, forMs: number, node?: string) => Stroke

const striking =
  (family: ExploredFamily): Strike =>
  (atMs, call, node = 'w1') => ({ atMs, family, call, node })
const lasting =
  (family: ExploredFamily): Lasting =>
  (atMs, call, forMs, node = 'w1') => ({ atMs, family, call, forMs, node })

export const lost: Strike = striking('lost-request')
export const unanswered: Strike = striking('lost-reply')
export const late: Lasting = lasting('late-request')
export const slow: Lasting = lasting('slow-reply')
export const pause: Lasting = lasting('pause')
export const crash: Lasting = lasting('crash')

/** So long that nothing comes of it before the horizon. */
export const forGoodMs = 900_000

export function order(atMs: number, command: Order['command'], job?: string): Stroke {
  return { atMs, family: 'operator', call: 'watch.move', order: { command, ...(job && { job }) } }
}

/** An operator ends the job and begins it anew: its failures and evictions are forgotten. */
export function anew(atMs: number, job: string): Stroke[] {
  return [order(atMs, 'cancel', job), order(atMs, 'retry', job)]
}

/** What a topology must allow for these. */
export function faultsOf(strokes: readonly Stroke[]): FaultOption[] {
  const options = new Map<string, FaultOption>()
  for (const { family, forMs, node, call, order } of strokes) {
    if (family === 'swap') continue
    const option = {
      family,
      ...(forMs !== undefined && { forMs }),
      ...(node && { nodes: [node] }),
      ...(call && { calls: [call] }),
      ...(order && { order }),
    }
    options.set(JSON.stringify(option), option)
  }
  return [...options.values()]
}
