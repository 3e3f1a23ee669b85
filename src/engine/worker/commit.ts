import { CommitFailed, EngineStopping, InvalidArgument, StoreUnavailable } from '../errors.ts'
import { requireFunction } from '../given.ts'
import type { Commit } from '../jobs/context.ts'
import { isThenable } from '../jobs/thenable.ts'
import { sleep } from '../ports/clock.ts'
import type { ClaimedJob, CommitStore, TransactReply, Worked } from '../ports/store.ts'
import { resultOf } from './outcome.ts'
import type { WorkerParts } from './parts.ts'

/**
 * The end of an attempt in one transaction with what its handler writes. It is sent once; where its outcome is
 * unknown it is confirmed until that is known, as a settle is sent until it is answered, and never sent again.
 */
export interface Commits {
  of(job: ClaimedJob, attempt: Committing): Commit
  /** Resolves when no outcome is unknown. */
  idle(): Promise<void>
  /** Confirms nothing more; resolves when no call is in flight. */
  stop(): Promise<void>
  /** None is on its way. */
  readonly atRest: boolean
}

/** The attempt, as its commit sees it. */
export interface Committing {
  /** From now on nothing else ends the attempt. Throws if it has ended already, or its time is over. */
  begin(): void
  /** Resolves when what it has said is in the store, or is waited for no longer; null: there is nothing to wait for. */
  flushed(): Promise<void> | null
  /** Nothing was committed, by the handler's own doing: it goes on, or to the end that came meanwhile. */
  goOn(): void
  /** It succeeded, or the store has given its job back. */
  committed(end: 'succeeded' | 'released'): void
  /** Nothing was committed, and nobody has given the job back. */
  release(): void
  /** Throws `LeaseLost`. */
  lost(): never
}

export function createCommits(parts: WorkerParts): Commits {
  const { clock, store, ask, intervals } = parts
  const open = new Set<Promise<unknown>>()
  const stopping = new AbortController()

  /** Answers the value to hand to the handler, or throws what the handler is told. */
  async function run(
    job: ClaimedJob,
    attempt: Committing,
    commits: CommitStore,
    work: (tx: never) => unknown,
  ): Promise<unknown> {
    const { epoch, seq } = job
    const { id } = job.spec
    const made = workOf(parts, job, work)
    const flushing = attempt.flushed()
    if (flushing) await flushing
    let reply: TransactReply
    try {
      reply = await ask('commits.transact', commits.transact({ id, epoch, seq, work: made.work }))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) {
        attempt.goOn()
        throw error
      }
      if (error.sent === 'maybe') return confirm(job, attempt, commits, made.value)
      attempt.release()
      throw failed(id, error)
    }
    if (reply.kind === 'lost') return attempt.lost()
    if (reply.kind === 'thrown') {
      attempt.goOn()
      throw reply.error
    }
    attempt.committed('succeeded')
    return made.value()
  }

  async function confirm(
    { spec: { id }, epoch, seq }: ClaimedJob,
    attempt: Committing,
    commits: CommitStore,
    value: () => unknown,
  ): Promise<unknown> {
    for (;;) {
      try {
        const { kind } = await ask('commits.confirm', commits.confirm({ id, epoch, seq }))
        if (kind === 'lost') return attempt.lost()
        attempt.committed(kind === 'committed' ? 'succeeded' : 'released')
        if (kind === 'committed') return value()
        throw failed(id)
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
      }
      await sleep(clock, intervals.heartbeatRetryMs, 'commit-retry', stopping.signal)
    }
  }

  return {
    of: (job, attempt) => {
      let asked = false
      return (async (work: unknown) => {
        requireFunction('what is committed', work, InvalidArgument)
        const { commits } = store
        if (!commits) throw new InvalidArgument(`the store ${store.name} has no transaction to commit in`)
        if (asked) throw new InvalidArgument('a handler commits once an attempt')
        attempt.begin()
        asked = true
        const running = run(job, attempt, commits, work as (tx: never) => unknown)
        const over = running.then(
          () => {},
          () => {},
        )
        open.add(over)
        void over.then(() => open.delete(over))
        return running
      }) as Commit
    },
    idle: async () => {
      while (open.size > 0) await Promise.all(open)
    },
    stop: async () => {
      stopping.abort(new EngineStopping('the engine stopped before the outcome of a commit was known'))
      await Promise.all(open)
    },
    get atRest() {
      return open.size === 0
    },
  }
}

function failed(id: string, cause?: unknown): CommitFailed {
  const message = `the transaction of job ${id} was not committed: the store failed; the job runs again`
  return new CommitFailed(message, { cause })
}

/** The handler's function as the store runs it, and what it answered when it ran last. */
function workOf(
  { payloads }: WorkerParts,
  { spec: { id } }: ClaimedJob,
  work: (tx: never) => unknown,
): { readonly work: (tx: unknown) => Worked | Promise<Worked>; readonly value: () => unknown } {
  let value: unknown
  const done = (answered: unknown): Worked | Promise<Worked> => {
    value = answered
    const result = resultOf(id, answered, payloads)
    return typeof result === 'object' && result !== null ? settledOf(result) : { result }
  }
  const settledOf = (result: Promise<string | null>): Promise<Worked> =>
    result.then((text) => ({ result: text }), thrownOf)
  return {
    value: () => value,
    work: (tx) => {
      try {
        const answer = work(tx as never)
        return isThenable(answer) ? Promise.resolve(answer).then(done).catch(thrownOf) : done(answer)
      } catch (error) {
        return thrownOf(error)
      }
    },
  }
}

function thrownOf(thrown: unknown): Worked {
  return { thrown }
}
