import { finish } from '../hash.ts'
import { deviationsAt } from './deviations.ts'
import type { Leaving } from './frontier.ts'
import type { Deviation, Topology } from './topology.ts'
import { Account } from './account.ts'
import { type Walk, walk } from './walk.ts'

/** Two ways into what was taken for one state: schedules, and the step before which each stands there. */
export interface Alike {
  readonly pruned: Place
  readonly known: Place
}

export interface Place {
  readonly path: readonly Leaving[]
  readonly step: number
}

/** What differs after a state that was taken for a known one. */
export interface Difference {
  readonly alike: Alike
  readonly continuation: number
  /** Steps after the state. */
  readonly step: number
  readonly says: string
}

/**
 * Walks on from both by the same random choices, to the horizon of the later one, and compares event for event: what
 * the identity of a state leaves out shows here. Null: no difference in so many continuations.
 */
export async function audit(
  topology: Topology,
  alike: Alike,
  continuations: number,
): Promise<Difference | null> {
  for (let continuation = 0; continuation < continuations; continuation++) {
    const one = await continued(topology, alike.pruned, continuation, Number.POSITIVE_INFINITY)
    const other = await continued(topology, alike.known, continuation, one.length)
    for (const [step, says] of one.entries()) {
      if (says === other[step]) continue
      return {
        alike,
        continuation,
        step,
        says: `${says}, and from the known state ${other[step] ?? 'nothing'}`,
      }
    }
  }
  return null
}

/** How many of the steps after the state leave the default. */
const leaveOneIn = 8

/** What happens in each step after the state: when, to whom, what, with what answer, what is told of it, and what could be done. */
async function continued(
  topology: Topology,
  { path, step: from }: Place,
  continuation: number,
  most: number,
): Promise<string[]> {
  const told: string[][] = []
  let world: Walk['world'] | null = null
  let account: Account | null = null
  let at = 0
  const { recorder } = await walk({
    topology,
    begun: (begun) => (world = begun),
    watch: (event) => told.at(-1)?.push(account?.of(event) ?? ''),
    choose: (step) => {
      const now = world as Walk['world']
      const next = path[at]
      if (next?.step === step) {
        at += 1
        return deviationsAt(now, topology, step)[next.nth] as Deviation
      }
      if (step < from) return null
      account ??= new Account(now.nowMs)
      if (told.length >= most) return 'stop'
      const event = now.next()
      const others = deviationsAt(now, topology, step)
      const draw =
        finish(Math.imul(continuation + 1, 0x9e3779b1) ^ Math.imul(step - from + 1, 0x85ebca6b)) >>> 0
      const taken = others.length > 0 && draw % leaveOneIn === 0 ? (draw >>> 8) % others.length : -1
      told.push([event ? account.ofStep(event) : 'nothing', `${taken} of ${others.length}`])
      return others[taken] ?? null
    },
  })
  // The last of a walk: a violation ends it.
  for (const { property, kind } of recorder.violations) told.at(-1)?.push(`${property}: ${kind}`)
  return told.map((lines) => lines.join('; '))
}
