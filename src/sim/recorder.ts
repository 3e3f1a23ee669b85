import type {
  EngineEvent,
  HistoryEvent,
  HistoryType,
  ServiceEvent,
  StoreEvent,
  WorldEvent,
} from '../engine/history.ts'
import { InvalidArgument } from '../engine/errors.ts'
import { textOf } from '../engine/jobs/text.ts'
import type { Property } from '../properties/property.ts'
import { createHash } from './hash.ts'
import type { Incarnation } from './node.ts'

/** Something that moved in the world: a message or a timer. Together with the history it is the trace. */
export interface Step {
  readonly atMs: number
  readonly node: string
  readonly incarnation: number
  readonly step: 'request' | 'execution' | 'reply' | 'timer'
  readonly label: string
  readonly outcome: string
}

export interface Violation {
  readonly property: string
  readonly kind: string
  readonly subject: string
  readonly message: string
  /** The type of the event that showed it. */
  readonly on: string
  readonly atMs: number
  readonly event: number
}

export interface PropertyTally {
  readonly name: string
  readonly kind: Property['kind']
  /** Fault families without any of which it cannot be evaluated. */
  readonly needs: readonly string[]
  /** Its own bench brought it along. */
  readonly own: boolean
  /** Fault families that suspend it; and in how many runs one of them struck: from then on it judged nothing. */
  readonly suspendedBy: readonly string[]
  suspended: number
  /** It met what it comes after: before that it could not be evaluated. */
  met: boolean
  evaluations: number
  violations: number
}

/** Sees everything, judges nothing itself: feeds the trace hash and the properties, keeps the story if asked. */
export interface Recorder {
  /** Requests, executions, replies and timers so far. */
  readonly events: number
  readonly violations: readonly Violation[]
  readonly tallies: readonly PropertyTally[]
  readonly story: readonly (HistoryEvent | Step)[] | null
  /** What the properties remember, in their order, and how many events each was given. */
  readonly monitors: readonly { readonly state: unknown; readonly steps: number }[]
  request(owner: Incarnation, call: string): void
  executed(owner: Incarnation, call: string): void
  reply(owner: Incarnation, call: string, outcome: string): void
  timer(owner: Incarnation, label: string): void
  stored(owner: Incarnation | null, event: StoreEvent | ServiceEvent): void
  /** `null` is the environment. */
  happened(owner: Incarnation | null, event: EngineEvent | WorldEvent): void
  digest(): string
}

interface Placed {
  atMs: number
  node: string
  incarnation: number
}

interface Monitor {
  readonly property: Property
  /** Null: it is suspended. */
  state: unknown
  readonly tally: PropertyTally
  steps: number
}

/** A property is to judge, whatever comes: one that throws has a mistake of its own. */
class PropertyFailed extends InvalidArgument {
  override readonly code = 'PROPERTY_FAILED'
}

function failed({ name }: Property, error: unknown): PropertyFailed {
  const what = error instanceof Error ? (error.stack ?? error.message) : textOf(error)
  return new PropertyFailed(`property ${name} threw: ${what}`, { cause: error })
}

function rethrow(error: unknown): never {
  throw error
}

const violationsMax = 100

const stepCodes = { request: 1, execution: 2, reply: 3, timer: 4 } as const

export interface RecorderOptions {
  readonly properties: readonly Property[]
  readonly keepStory: boolean
  readonly now: () => number
  /** Told of every history event, after the properties. */
  readonly watch: (event: HistoryEvent) => void
  /** The user's own among the properties. */
  readonly own?: readonly Property[]
  /** Told when a property throws, which is no verdict on anything; default: it is thrown on. */
  readonly broke?: (error: unknown) => void
}

export function createRecorder({
  properties,
  keepStory,
  now,
  watch,
  own = [],
  broke = rethrow,
}: RecorderOptions): Recorder {
  const hash = createHash()
  const violations: Violation[] = []
  const story: (HistoryEvent | Step)[] | null = keepStory ? [] : null
  const monitors: readonly Monitor[] = properties.map((property) => ({
    property,
    state: property.start(),
    steps: 0,
    tally: {
      name: property.name,
      kind: property.kind,
      needs: property.needs ?? [],
      own: own.includes(property),
      suspendedBy: property.suspendedBy,
      suspended: 0,
      met: property.after === undefined,
      evaluations: 0,
      violations: 0,
    },
  }))
  const byType = new Map<HistoryType, Monitor[]>()
  for (const monitor of monitors) {
    for (const type of monitor.property.on) byType.set(type, [...(byType.get(type) ?? []), monitor])
  }
  const suspending = new Set(properties.flatMap(({ suspendedBy }) => suspendedBy))
  let events = 0
  let judging = monitors[0] as Monitor
  let judged = 'run.started'

  const verdict = {
    evaluated: () => void (judging.tally.evaluations += 1),
    violated: (violation: { kind: string; subject: string; message: string }) => {
      judging.tally.violations += 1
      if (violations.length >= violationsMax) return
      const about = { property: judging.property.name, ...violation }
      violations.push({ ...about, on: judged, atMs: now(), event: events })
    },
  }

  function moved(owner: Incarnation, step: Step['step'], label: string, outcome: string): void {
    events += 1
    hash.number(now())
    hash.number((owner.node.index * 1024 + owner.number) * 8 + stepCodes[step])
    hash.text(label)
    if (outcome !== '') hash.text(outcome)
    story?.push({ atMs: now(), node: owner.node.name, incarnation: owner.number, step, label, outcome })
  }

  /** What it has seen until then it has judged; what comes after means nothing to it. */
  function suspend(family: string): void {
    for (const monitor of monitors) {
      if (monitor.tally.suspended > 0 || !monitor.property.suspendedBy.includes(family)) continue
      monitor.tally.suspended = 1
      monitor.state = null
      for (const type of monitor.property.on) {
        const others = byType.get(type)?.filter((other) => other !== monitor)
        if (others) byType.set(type, others)
      }
    }
  }

  function tell(owner: Incarnation | null, told: EngineEvent | StoreEvent | WorldEvent | ServiceEvent): void {
    // The emitter hands the event over; a copy would cost more than everything else here.
    const event = told as HistoryEvent & Placed
    event.atMs = now()
    event.node = owner ? owner.node.name : 'env'
    event.incarnation = owner ? owner.number : 0
    // The type says what the keys are. In a fencing token is a number that each store gives out in its own way.
    hash.row(event.type === 'handler.began' ? { ...event, fence: null } : event)
    story?.push(event)
    if (event.type === 'fault.struck' && suspending.has(event.family)) suspend(event.family)
    const interested = byType.get(event.type)
    if (interested) {
      judged = event.type
      for (const monitor of interested) {
        judging = monitor
        monitor.steps += 1
        if (!monitor.tally.met) monitor.tally.met = monitor.property.after?.includes(event.type) ?? true
        try {
          monitor.property.step(monitor.state, event, verdict)
        } catch (error) {
          // Of an observer's exception the engine would make an event.
          broke(failed(monitor.property, error))
        }
      }
    }
    watch(event)
  }

  return {
    get events() {
      return events
    },
    violations,
    tallies: monitors.map(({ tally }) => tally),
    story,
    monitors,
    request: (owner, call) => moved(owner, 'request', call, ''),
    executed: (owner, call) => moved(owner, 'execution', call, ''),
    reply: (owner, call, outcome) => moved(owner, 'reply', call, outcome),
    timer: (owner, label) => moved(owner, 'timer', label, ''),
    stored: tell,
    happened: (owner, event) => {
      // A dead process is not heard any more; what its requests in flight do to the store is.
      if (owner === null || owner.alive) tell(owner, event)
    },
    digest: hash.digest,
  }
}
