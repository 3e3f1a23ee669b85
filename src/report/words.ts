import type { EventOf, HistoryEvent } from '../engine/history.ts'
import { instant, span } from '../properties/model/when.ts'
import type { Known } from './known.ts'

/** What an event says, in a person's words: every instant by the clock of the run. */
export function wordsOf(event: HistoryEvent, known: Known): string {
  switch (event.type) {
    case 'job.inserted':
      return `enqueues ${event.job} (${event.kind})${event.created ? dueWords(event) : ', which is there already'}`
    case 'enqueue.acknowledged':
      return `is told that ${event.job} is ${event.created ? 'created' : 'there already'}, having sent it ${event.tries === 1 ? 'once' : `${event.tries} times`}`
    case 'handler.ended':
      return `the handler of ${event.job} ${event.how === 'threw' ? `throws ${event.error ?? ''}` : event.how} (epoch ${event.epoch})`
    case 'job.claimed':
      return `claims ${event.job} at epoch ${event.epoch} (attempt ${event.attempt}, lease until ${instant(event.atMs + event.leaseTtlMs)}, under ${event.token})`
    case 'job.settled':
      return `settles ${event.job} at epoch ${event.epoch} as ${event.outcome}: ${event.settled}${event.repeated ? ' (a repeat)' : ''}; it is ${event.state ?? 'gone'}`
    case 'job.reclaimed':
      return `takes back the lapsed lease of ${event.job}, now epoch ${event.epoch}, eviction ${event.evictions}, ${event.state}`
    case 'job.timedOut':
      return `ends the overdue attempt of ${event.job}, now epoch ${event.epoch}, failure ${event.failures}, ${event.state}`
    case 'timeline.began':
      return `begins timeline ${event.timeline}, since the database was restored from a backup`
    case 'job.takenBack':
      return `takes back ${event.job}, which ran when the backup was made, now epoch ${event.epoch}, ${event.state}`
    case 'job.noted':
      return `${event.applied ? 'keeps' : 'is refused'} the ${event.what}${event.key === '' ? '' : ` ${event.key}`} of ${event.job} at epoch ${event.epoch}`
    case 'job.recalled':
      return `reads the checkpoints of ${event.job}: ${event.entries.map(({ key }) => key).join(', ') || 'none'}`
    case 'job.replayed':
      return `${event.applied ? 'replays' : 'has replayed'} the dead letter ${event.job} as ${event.as}`
    case 'replay.refused':
      return refusedReplay(event)
    case 'job.members':
    case 'schedule.members':
      return membersWords(event)
    case 'job.discarded':
      return `${event.applied ? 'discards' : 'has discarded'} the dead letter ${event.job}`
    case 'discard.refused':
      return `cannot discard ${event.job}: it is no dead letter`
    case 'dead.listed':
      return `lists dead letters${event.whole ? ', all of them' : ''}: ${event.jobs.join(', ') || 'none'}`
    case 'log.appended': {
      const [first, last] = [event.lines[0], event.lines.at(-1)]
      const which = first === last ? `line ${first}` : `lines ${first} to ${last}`
      return `${event.applied ? 'keeps' : 'is refused'} ${which} of ${event.job} at epoch ${event.epoch}`
    }
    case 'log.final':
      return `the log of ${event.job} has ${event.ns.length} of ${event.next} lines`
    case 'lease.renewed': {
      const ttlMs = known.ttlMs(event.job)
      return `renews the lease of ${event.job} at epoch ${event.epoch}${ttlMs === null ? '' : `, until ${instant(event.atMs + ttlMs)}`}`
    }
    case 'claim.recovered':
      return `recovers its claim ${event.token}: it holds ${event.job} at epoch ${event.epoch}`
    case 'claim.unknown':
      return `cannot know whether its claim ${event.token} took effect`
    case 'claim.known':
      return `knows what became of its claim ${event.token}`
    case 'claim.voided':
      return `makes its claim ${event.token} void`
    case 'claim.refused':
      return `its claim ${event.token} is refused, for it was made void`
    case 'reclaim.heldBack': {
      const upMs = known.upMs(event.atMs)
      return `holds back ${event.leases} lapsed ${event.leases === 1 ? 'lease' : 'leases'}${upMs === null ? '' : `: up ${span(upMs)}`}`
    }
    case 'watch.moved':
      return watchWords(event, known)
    case 'store.failed':
      return failureWords(event)
    case 'jobs.listing':
      return `begins to list ${event.queue === null ? 'all jobs' : `queue ${event.queue}`}`
    case 'jobs.listed':
      return `has listed ${event.queue === null ? 'all jobs' : `queue ${event.queue}`}: ${event.jobs.length} in all`
    case 'queues.counted':
      return countWords(event)
    case 'service.called': {
      const answer = event.error === null ? `answers ${short(event.reply)}` : `refuses: ${event.error}`
      return `${event.service}.${event.call} of ${short(event.request)} ${answer}`
    }
    default:
      return attemptWords(event)
  }
}

/** What a process goes through, with its attempts. */
function attemptWords(event: HistoryEvent): string {
  switch (event.type) {
    case 'job.removed':
      return `removes ${event.job}, which was over for long enough`
    case 'attempt.started':
      return `starts the handler of ${event.job} at epoch ${event.epoch} (attempt ${event.attempt})`
    case 'attempt.misfit':
      return `gives ${event.job} back at epoch ${event.epoch}: its input is of version ${event.inputVersion}, and ${event.knows} is all that it knows`
    case 'attempt.ended':
      return `the handler of ${event.job} at epoch ${event.epoch} ended: ${event.end}`
    case 'attempt.committing':
      return `the handler of ${event.job} at epoch ${event.epoch} commits`
    case 'attempt.committed':
      return `learns that what ${event.job} committed at epoch ${event.epoch} is kept`
    case 'effect.committed':
      return `keeps what ${event.job} wrote at epoch ${event.epoch}`
    case 'attempt.confirmed':
      return `learns that its settle of ${event.job} at epoch ${event.epoch} was ${event.settled}`
    case 'attempt.lost':
      return `learns that it lost ${event.job} at epoch ${event.epoch}`
    case 'attempt.uncertain':
      return `can no longer vouch for its lease on ${event.job} at epoch ${event.epoch}`
    case 'attempt.certain':
      return `can vouch for its lease on ${event.job} at epoch ${event.epoch} again`
    case 'log.lost':
      return `gives up ${event.lines} ${event.lines === 1 ? 'line' : 'lines'} of ${event.job} at epoch ${event.epoch}: ${event.why}`
    case 'handler.said':
      return `the handler of ${event.job} at epoch ${event.epoch} says a line`
    case 'result.awaited':
      return `waits for the result of ${event.job}`
    case 'result.told':
      return `is told of ${event.job}: ${event.how}${event.error === null ? '' : ` (${event.error})`}`
    case 'handler.signalled':
      return `the handler of ${event.job} at epoch ${event.epoch} is told ${event.code}`
    default:
      return worldWords(event)
  }
}

function worldWords(event: HistoryEvent): string {
  switch (event.type) {
    case 'run.started':
      return `the run starts: sweeps every ${span(event.sweepMs)}, so a gap of over ${span(2 * event.sweepMs)} restarts the watch; store calls within ${span(event.storeCallMs)}, replies within ${span(event.replyMs)}; a handler is abandoned ${span(event.abandonMs)} after its signal; polls at least every ${span(event.pollMsMax)}${event.deadLetterMs === null ? '' : `; dead letters are kept for ${span(event.deadLetterMs)}`}`
    case 'run.healed':
      return `the faults are over; all is to end within ${span(event.boundMs)}`
    case 'fault.struck':
      return `FAULT ${event.fault}${event.call ? ` on ${event.call}` : ''}`
    case 'node.paused':
      return `stands still for ${span(event.forMs)}`
    case 'node.resumed':
      return 'goes on'
    case 'node.crashed':
      return 'the process dies'
    case 'node.started':
      return `process ${event.incarnation} starts`
    case 'release.began':
      return `the process is of ${event.newer ? 'a newer' : 'this'} release`
    case 'database.down':
      return `the database goes away for ${span(event.forMs)}`
    case 'database.up':
      return 'the database is back'
    case 'database.backedUp':
      return 'a backup of the database is made'
    case 'database.restored':
      return `the database is put back to what it was at ${instant(event.toMs)}, under hold`
    case 'database.jumped':
      return `the clock of the database jumps ${event.byMs < 0 ? 'back' : 'ahead'} by ${span(Math.abs(event.byMs))}`
    case 'schedule.fired':
      return firedWords(event)
    default:
      return otherWords(event)
  }
}

function countWords({ queues }: EventOf<'queues.counted'>): string {
  const each = queues.map(({ queue, ...counts }) => {
    const some = Object.entries(counts).filter(([, count]) => count > 0)
    return `${queue}: ${some.map(([what, count]) => `${count} ${what}`).join(', ')}`
  })
  return each.length === 0 ? 'counts nothing' : `counts ${each.join('; ')}`
}

function firedWords({ key, outcome, slots, nextMs }: EventOf<'schedule.fired'>): string {
  const what = slots.length === 0 ? 'no slot' : `the slot ${slots.map(instant).join(', ')}`
  if (outcome === 'early') return `is too early for ${what} of schedule ${key}`
  if (outcome === 'lost') return `finds schedule ${key} moved on, paused or gone`
  const next = nextMs === null ? 'never again' : `next at ${instant(nextMs)}`
  return `fires ${what} of schedule ${key}${outcome === 'stands' ? ', as before' : ''}; ${next}`
}

function membersWords(event: EventOf<'job.members' | 'schedule.members'>): string {
  const isThere = event.beyond !== 0 || ('jobs' in event && event.jobs !== 0)
  const what = `${isThere ? 'members' : 'no member'} of a newer release`
  const verb = event.stated ? 'states' : 'sees'
  if ('key' in event) return `${verb} ${what} in schedule ${event.key}`
  const { job, replays, schedule } = event
  if (replays !== null) return `${verb} ${what} in job ${job}, which replays ${replays}`
  return `${verb} ${what} in job ${job}${schedule === null ? '' : `, of schedule ${schedule}`}`
}

function dueWords({ dueMs, atMs }: EventOf<'job.inserted'>): string {
  return dueMs ? `, due at ${instant(atMs + dueMs)}` : ''
}

function watchWords({ kind, seenSinceMs, atMs }: EventOf<'watch.moved'>, known: Known): string {
  const since = `up since ${instant(known.inRun(seenSinceMs))}`
  if (kind === 'refused') return `its move of the watch is refused as too late: ${since}`
  const gapMs = known.gapMs(atMs)
  const after = gapMs === null ? '' : ` after a gap of ${span(gapMs)} (over ${span(known.gapMsMax)})`
  return `${kind === 'moved' ? 'moves' : 'restarts'} the watch${after}: ${since}`
}

function failureWords({ call, sent }: EventOf<'store.failed'>): string {
  if (sent === 'answered') return `${call} is refused by the store`
  return `${call} fails, ${sent === 'no' ? 'and did nothing' : 'outcome unknown'}`
}

function refusedReplay({ job, why, as }: EventOf<'replay.refused'>): string {
  if (why === 'already') return `is told that ${job} was replayed as ${as} before`
  if (why === 'later') return `does not replay ${job}: it died after this was asked for`
  if (why === 'taken') return `cannot replay ${job}: the id of its replay is another job's`
  return `cannot replay ${job}: it is ${why === 'missing' ? 'not there' : 'no dead letter'}`
}

const shortMax = 120

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > shortMax ? `${text.slice(0, shortMax)}...` : text
}

/** The rest speaks for itself: the type and what it carries. */
function otherWords(event: HistoryEvent): string {
  const { type, atMs: _at, node: _node, incarnation: _incarnation, ...rest } = event
  return [type, ...Object.entries(rest).map(carried)].join(' ')
}

function carried([key, value]: [string, unknown]): string {
  if (typeof value === 'number' && key.endsWith('Ms')) return `${key.slice(0, -2)}=${span(value)}`
  return `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`
}
