import type { Place } from '../../../../src/sim/explore/audit.ts'
import { deviationsAt } from '../../../../src/sim/explore/deviations.ts'
import type { Leaving } from '../../../../src/sim/explore/frontier.ts'
import { Identity } from '../../../../src/sim/explore/identity.ts'
import type { Heeded } from '../../../../src/sim/explore/life.ts'
import { Texts } from '../../../../src/sim/explore/portrait.ts'
import type { Deviation, Topology } from '../../../../src/sim/explore/topology.ts'
import { walk } from '../../../../src/sim/explore/walk.ts'
import type { World } from '../../../../src/sim/world.ts'
import type { Stroke } from './strokes.ts'

/** A state on the way of a schedule, with its identity, and what that is where not all is heeded. */
export interface Stood {
  readonly place: Place
  readonly whole: string
  readonly less: string
}

/** Walks one schedule to the horizon; answers the states from its last stroke on, or all if it has none. */
export async function retold(
  topology: Topology,
  strokes: readonly Stroke[],
  heeded: Heeded,
): Promise<Stood[]> {
  const [texts, key] = [new Texts(), new Int32Array(4)]
  const stood: Stood[] = []
  const path: Leaving[] = []
  let [passed, world] = [0, null as World | null]
  let identities: Identity[] = []

  function told(identity: Identity | undefined): string {
    identity?.tell(key)
    return key.join(' ')
  }

  function leaves(step: number): Deviation | null {
    const stroke = strokes[path.length]
    if (!world || !stroke || (world.next()?.atMs ?? 0) < stroke.atMs) return null
    const all = deviationsAt(world, topology, step)
    const nth = all.findIndex((deviation) => isThat(deviation, stroke))
    if (nth < 0 || passed++ < (stroke.skip ?? 0)) return null
    passed = 0
    path.push({ step, nth })
    return all[nth] ?? null
  }

  const { recorder, stop } = await walk({
    topology,
    begun: (begun, content) => {
      world = begun
      identities = [{}, { heeded }].map((options) => new Identity(begun, content, texts, options))
    },
    fired: (event, deferred) => {
      for (const identity of identities) identity.fired(event, deferred)
    },
    choose: (step) => {
      const [whole, less] = identities
      if (path.length === strokes.length)
        stood.push({ place: { path, step }, whole: told(whole), less: told(less) })
      return leaves(step)
    },
  })
  if (stop || recorder.violations.length > 0) throw new Error('the schedule is stopped')
  if (path.length < strokes.length) throw new Error(`nothing to strike: ${path.length} of ${strokes.length}`)
  return stood
}

function isThat(deviation: Deviation, { family, forMs, node, call, order }: Stroke): boolean {
  if (deviation.what === 'swap') return family === 'swap'
  const { fault } = deviation
  return (
    fault.family === family &&
    fault.forMs === forMs &&
    (node === undefined || fault.node === node) &&
    (call === undefined || fault.call === call) &&
    deviation.order?.command === order?.command &&
    deviation.order?.job === order?.job
  )
}

/** Of the states of one schedule and of another those that are one by `by`, the earliest first. */
export function met(
  one: readonly Stood[],
  other: readonly Stood[],
  by: (stood: Stood) => string,
): [Stood, Stood][] {
  const known = new Map(other.map((stood) => [by(stood), stood]))
  return one.flatMap((stood) => {
    const same = known.get(by(stood))
    return same ? [[stood, same] as [Stood, Stood]] : []
  })
}
