import type { EventOf } from '../../engine/history.ts'
import { type Who, isSame } from './who.ts'

/** What is known of each process, as an engine on it should know it too: its phase, its handlers, its claims. */
export type Processes = Map<string, Process>

export interface Process extends Who {
  phase: 'starting' | 'running' | 'stopping' | 'stopped'
  everRan: boolean
  everHeld: boolean
  handlers: number
  /** When a call of it last got no answer. */
  failedAtMs: number
  /** What it was found wrong in: each is told once. */
  readonly slips: Set<string>
  /** Attempts of its claims, until it has heard of their end: by job, earlier ones by job and epoch. */
  readonly held: Map<string, Held>
}

export interface Held {
  readonly epoch: number
  readonly token: string
  started: boolean
  ended: boolean
  uncertain: boolean
}

export const processEvents = [
  'node.started',
  'engine.started',
  'node.stopping',
  'engine.stopped',
  'store.failed',
  'job.claimed',
  'attempt.started',
  'attempt.ended',
  'attempt.uncertain',
  'attempt.certain',
  'attempt.lost',
  'attempt.confirmed',
  'handler.began',
  'handler.ended',
] as const

type ProcessEvent = EventOf<(typeof processEvents)[number]>

export function noteProcess(processes: Processes, event: ProcessEvent): void {
  if (event.type === 'node.started') return start(processes, event)
  const process = processOf(processes, event)
  if (!process) return
  switch (event.type) {
    case 'engine.started':
      process.everRan = true
      if (process.phase === 'starting') process.phase = 'running'
      return
    case 'node.stopping':
      process.phase = 'stopping'
      return
    case 'engine.stopped':
      process.phase = 'stopped'
      return
    case 'store.failed':
      if (event.sent !== 'answered') process.failedAtMs = event.atMs
      return
    case 'handler.began':
      process.handlers += 1
      return
    case 'handler.ended':
      process.handlers -= 1
      return
    case 'job.claimed': {
      const { job, epoch, token } = event
      process.everHeld = true
      const before = process.held.get(job)
      // It comes back before this process has heard what became of its last settle.
      if (before) process.held.set(keyOf(job, before.epoch), before)
      return void process.held.set(job, { epoch, token, started: false, ended: false, uncertain: false })
    }
    default:
      return attempt(process, event)
  }
}

function start(processes: Processes, { node, incarnation }: EventOf<'node.started'>): void {
  const fresh = { everRan: false, everHeld: false, handlers: 0, failedAtMs: -1 }
  const lists = { slips: new Set<string>(), held: new Map<string, Held>() }
  processes.set(node, { node, incarnation, phase: 'starting', ...fresh, ...lists })
}

function attempt(
  { held }: Process,
  event: Extract<ProcessEvent, { readonly type: `attempt.${string}` }>,
): void {
  const { job, epoch } = event
  const key = held.get(job)?.epoch === epoch ? job : keyOf(job, epoch)
  const known = held.get(key)
  if (!known) return
  if (event.type === 'attempt.started') known.started = true
  else if (event.type === 'attempt.ended') known.ended = true
  else if (event.type === 'attempt.uncertain') known.uncertain = true
  else if (event.type === 'attempt.certain') known.uncertain = false
  else held.delete(key)
}

function keyOf(job: string, epoch: number): string {
  return `${job} ${epoch}`
}

export function processOf(processes: Processes, who: Who): Process | null {
  const process = processes.get(who.node)
  return process && isSame(process, who) ? process : null
}
