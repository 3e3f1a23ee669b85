import type { EventOf } from '../engine/history.ts'
import { type Property, type Verdict, property } from './property.ts'

/**
 * Why: `concurrency` is what a process can bear. And a job on its last eviction may be one that kills its
 * process: it is claimed alone, by a process that runs nothing else until it ends, so that a killer does not
 * take its whole batch with it. (Contract 0.7, 0.10.)
 *
 * Blind spot: it counts handlers, not what they use; and of a process that does not say its concurrency
 * nothing is asked.
 */
interface Process {
  readonly incarnation: number
  readonly queues: Readonly<Record<string, number>>
  /** Handlers running, by queue. */
  readonly running: Map<string, number>
  /** Jobs that the store says it holds, by epoch. */
  readonly held: Map<string, number>
  /** Of these, the one on its last eviction. */
  solo: string | null
}

interface State {
  readonly jobs: Map<string, { readonly queue: string; readonly maxEvictions: number; holder: string }>
  readonly processes: Map<string, Process>
}

export const capacity: Property = property({
  name: 'capacity',
  kind: 'always',
  says: 'No process runs more of a queue than its concurrency, nor anything beside a job on its last eviction.',
  blindSpot: 'Handlers are counted, not what they use.',
  on: [
    'node.started',
    'node.crashed',
    'job.inserted',
    'job.claimed',
    'job.settled',
    'job.reclaimed',
    'job.timedOut',
    'handler.began',
    'handler.ended',
    'job.takenBack',
    'database.restored',
  ],
  suspendedBy: [],
  start: (): State => ({ jobs: new Map(), processes: new Map() }),
  step(state, event, verdict) {
    const { jobs, processes } = state
    switch (event.type) {
      case 'node.started': {
        const { incarnation, queues } = event
        const fresh = { running: new Map<string, number>(), held: new Map<string, number>(), solo: null }
        return void processes.set(event.node, { incarnation, queues, ...fresh })
      }
      case 'node.crashed':
        return void processes.delete(event.node)
      case 'job.inserted': {
        const { job, queue, maxEvictions } = event
        if (!jobs.has(job)) jobs.set(job, { queue, maxEvictions, holder: '' })
        return
      }
      case 'job.claimed':
        return claimed(state, event, verdict)
      case 'job.settled':
        if (event.settled === 'applied') left(state, event.job, event.epoch)
        return
      case 'job.reclaimed':
      case 'job.timedOut':
        return left(state, event.job, event.epoch - 1)
      case 'job.takenBack':
        return leftAtAny(state, event.job)
      case 'database.restored':
        // What ran when the backup was made is taken back before anything is claimed.
        for (const process of processes.values()) {
          process.held.clear()
          process.solo = null
        }
        return
      case 'handler.began':
        return began(state, event, verdict)
      case 'handler.ended': {
        const queue = jobs.get(event.job)?.queue
        const running = processOf(state, event)?.running
        if (running && queue !== undefined) running.set(queue, (running.get(queue) ?? 0) - 1)
      }
    }
  },
})

function claimed(state: State, event: EventOf<'job.claimed'>, verdict: Verdict): void {
  const { job, epoch, evictions, batch, node } = event
  const known = state.jobs.get(job)
  const process = processOf(state, event)
  if (!known || !process) return
  known.holder = node
  const isSolo = evictions > 0 && evictions >= known.maxEvictions - 1
  const others = process.held.size - (process.held.has(job) ? 1 : 0)
  process.held.set(job, epoch)
  if (!isSolo && process.solo === null) return
  verdict.evaluated()
  const beside = process.solo ?? job
  if (isSolo) process.solo = job
  if (isSolo && process.solo === job && others === 0 && batch === 1) return
  const message = `${node} claimed job ${job} though it holds ${others} other(s), in a batch of ${batch}; job ${beside} is on its last eviction`
  verdict.violated({ kind: 'not-alone', subject: beside, message })
}

function left(state: State, job: string, epoch: number): void {
  const process = state.processes.get(state.jobs.get(job)?.holder ?? '')
  if (!process || process.held.get(job) !== epoch) return
  process.held.delete(job)
  if (process.solo === job) process.solo = null
}

function leftAtAny({ jobs, processes }: State, job: string): void {
  const process = processes.get(jobs.get(job)?.holder ?? '')
  process?.held.delete(job)
  if (process?.solo === job) process.solo = null
}

function began(state: State, event: EventOf<'handler.began'>, verdict: Verdict): void {
  const queue = state.jobs.get(event.job)?.queue
  const process = processOf(state, event)
  if (!process || queue === undefined) return
  const count = (process.running.get(queue) ?? 0) + 1
  process.running.set(queue, count)
  verdict.evaluated()
  const concurrency = process.queues[queue] ?? 0
  if (count <= concurrency) return
  const message = `${event.node} runs ${count} jobs of queue ${queue}, whose concurrency is ${concurrency}`
  verdict.violated({ kind: 'over-capacity', subject: event.job, message })
}

function processOf(
  { processes }: State,
  { node, incarnation }: { readonly node: string; readonly incarnation: number },
): Process | undefined {
  const process = processes.get(node)
  return process?.incarnation === incarnation ? process : undefined
}
