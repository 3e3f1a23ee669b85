import type { EventOf, HistoryEvent } from '../engine/history.ts'
import { type Line, whoOf } from './line.ts'

/** What a line is to a story: nothing; something if what comes says so; of its surroundings, of its course, or decisive. */
export type Weight = 'none' | 'maybe' | 'around' | 'told' | 'decides'

/** What properties look at, and what tells a person nothing new. */
const untold: ReadonlySet<string> = new Set(['node.health', 'handler.began', 'handler.said'])
const ends: ReadonlySet<string> = new Set(['job.settled', 'job.reclaimed', 'job.timedOut'])
/** Calls that the subject hangs on, from an event of it on. */
const hangsOn: Partial<Record<HistoryEvent['type'], readonly string[]>> = {
  'job.claimed': ['claims.claim', 'claims.renew'],
  'attempt.ended': ['jobs.settle', 'logs.append'],
  'attempt.committing': ['commits.transact', 'commits.confirm'],
}

/** How much each line of a run, in their order, has to do with the subject of a violation. */
export function concernOf(subject: string, everyFault: boolean): (line: Line) => Weight {
  const nodes = new Set<string>()
  /** The claims that took it. */
  const tokens = new Set<string>()
  const calls = new Map<string, Set<string>>()
  let inserted = false
  /** Somebody holds it, or did when last heard of. */
  let held = false
  let away = false
  /** Something befell the database, or a lease was held back: the next move of the watch says what it made of it. */
  let watching = false

  function isAbout(event: HistoryEvent): boolean {
    const job = 'job' in event ? event.job : undefined
    const token = 'token' in event ? event.token : undefined
    const as = 'as' in event ? event.as : undefined
    if ([event.node, job, as, token].includes(subject)) return true
    if (job !== undefined) return false
    return ('key' in event && event.key === subject) || (token !== undefined && tokens.has(token))
  }

  function follow(event: HistoryEvent): void {
    nodes.add(event.node)
    if (event.type === 'job.inserted') inserted = true
    if (event.type === 'job.claimed') tokens.add(event.token)
    held = event.type === 'job.claimed' || (held && !ends.has(event.type))
    const of = whoOf(event)
    if (event.type === 'attempt.lost' || event.type === 'attempt.confirmed') calls.delete(of)
    else calls.set(of, new Set([...(calls.get(of) ?? []), ...(hangsOn[event.type] ?? [])]))
  }

  function failed(event: EventOf<'store.failed'>): Weight {
    // The sender says later which job it was about.
    if (event.call === 'jobs.insert') return 'maybe'
    const open = calls.get(whoOf(event))
    if (!open?.has(event.call)) return 'none'
    if (event.call === 'claims.claim' && open.delete(event.call)) open.add('claims.recover')
    return 'decides'
  }

  function moved({ kind }: EventOf<'watch.moved'>): Weight {
    const tells = watching || (kind !== 'moved' && nodes.size > 0)
    if (kind !== 'refused') watching = away
    return tells ? 'around' : 'none'
  }

  function around(event: HistoryEvent): Weight {
    if (event.type === 'store.failed') return failed(event)
    if (event.type === 'watch.moved') return moved(event)
    if (event.type.startsWith('database.')) {
      away = event.type === 'database.down' || (away && event.type !== 'database.up')
      watching = true
    }
    if (event.type === 'reclaim.heldBack') {
      watching ||= held
      return held ? 'decides' : 'none'
    }
    const near = event.node === 'env' || nodes.has(event.node)
    if (event.type === 'fault.struck') return near || everyFault ? 'decides' : 'none'
    if (!near || !isEnvironment(event)) return 'none'
    return event.type.startsWith('database.') ? 'told' : 'around'
  }

  return (line) => {
    if ('step' in line) {
      // What comes after the claim that took it is about other jobs.
      if (line.step === 'reply' && line.label === 'claims.claim') {
        if (line.outcome === 'ok') calls.get(whoOf(line))?.delete(line.label)
      }
      return 'none'
    }
    if (untold.has(line.type)) return 'none'
    if (!isAbout(line)) return around(line)
    // Nothing new where the one request was answered.
    if (line.type === 'enqueue.acknowledged' && inserted && line.created && line.tries === 1) return 'none'
    follow(line)
    return isRefusal(line) ? 'decides' : 'told'
  }
}

/** It befell a process, the database or the world. */
export function isEnvironment({ type }: HistoryEvent): boolean {
  return (
    type.startsWith('node.') ||
    type.startsWith('database.') ||
    type === 'fault.struck' ||
    type === 'run.healed'
  )
}

function isRefusal(event: HistoryEvent): boolean {
  return (
    event.type.endsWith('.refused') ||
    event.type === 'store.failed' ||
    event.type === 'enqueue.acknowledged' ||
    (event.type === 'job.settled' && event.settled !== 'applied') ||
    (event.type === 'job.noted' && !event.applied) ||
    (event.type === 'log.appended' && !event.applied)
  )
}
