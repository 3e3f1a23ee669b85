import { InvalidArgument, LeaseLost } from '../errors.ts'
import { shown } from '../given.ts'
import type { AttemptContext, AttemptInfo, Checkpoint, Commit } from '../jobs/context.ts'
import { toJson } from '../jobs/json.ts'
import { requireName, storableText } from '../jobs/text.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { ClaimedJob, Fenced } from '../ports/store.ts'
import type { LazySignal } from './lazy-signal.ts'
import type { WorkerParts } from './parts.ts'

/** What the handler of an attempt gets. All that it writes while it runs is fenced. */
export function contextOf(
  { store, ask, payloads }: Pick<WorkerParts, 'store' | 'ask' | 'payloads'>,
  clock: Clock,
  job: ClaimedJob,
  input: unknown,
  interruption: LazySignal,
  lease: () => boolean,
  commit: Commit,
): AttemptContext<never> {
  const { id, kind, queue, metadata, traceparent } = job.spec
  const { epoch } = job
  let kept: Promise<Map<string, string>> | null = null

  /** Read once, at the first look; again only where that failed. */
  async function load(): Promise<Map<string, string>> {
    try {
      const entries = await ask('jobs.checkpoints', store.jobs.checkpoints({ id }))
      return new Map(entries.map(({ key, value }) => [key, value]))
    } catch (error) {
      kept = null
      throw error
    }
  }

  async function fenced(write: Promise<Fenced>): Promise<void> {
    const { applied } = await write
    if (applied) return
    throw new LeaseLost(
      `attempt ${job.attempt} of job ${id} may write nothing more: it has ended, or the job was taken over`,
    )
  }

  async function keep(key: string, value: unknown): Promise<void> {
    const json = toJson(value)
    if (json === null) throw new InvalidArgument(`checkpoint ${key}: undefined has no JSON form; keep null`)
    const text = await payloads.stored(`checkpoint ${key} of job ${id}`, json)
    await fenced(ask('jobs.checkpoint', store.jobs.checkpoint({ id, epoch, key, value: text })))
    // A read that is under way may have missed it; one that fails is over, and says so to whoever asked.
    await kept?.then(
      (entries) => entries.set(key, text),
      () => {},
    )
  }

  async function read(key: string): Promise<unknown> {
    const text = (await (kept ??= load())).get(key)
    return text === undefined ? undefined : payloads.value(`checkpoint ${key} of job ${id}`, text)
  }

  async function checkpoint(key: string, ...value: readonly unknown[]): Promise<unknown> {
    requireName('a checkpoint key', key, InvalidArgument)
    return value.length === 0 ? read(key) : keep(key, value[0])
  }

  return new Context(interruption, {
    input: input as never,
    job: { id, kind, queue, metadata: metadata ?? {}, traceparent },
    attempt: new Info(job, lease),
    progress: async (percent, phase) => {
      if (!(typeof percent === 'number' && percent >= 0 && percent <= 100)) {
        throw new InvalidArgument(`progress is 0 to 100 percent, not ${shown(percent)}`)
      }
      if (phase !== undefined && typeof phase !== 'string') {
        throw new InvalidArgument(`a phase must be a string, not ${shown(phase)}`)
      }
      // Without the sign of -0, which JSON does not keep.
      const told = {
        id,
        epoch,
        percent: percent + 0,
        phase: phase === undefined ? null : storableText(phase),
      }
      await fenced(ask('jobs.progress', store.jobs.progress(told)))
    },
    checkpoint: checkpoint as Checkpoint,
    commit,
    sleep: (delayMs) => sleep(clock, delayMs, 'sleep', interruption.signal()),
  })
}

/** What is read when the handler asks, as getters of a class: in the object itself they would cost more than a handler. */
class Context implements AttemptContext<never> {
  readonly input: never
  readonly job: AttemptContext<never>['job']
  readonly attempt: AttemptInfo
  readonly progress: AttemptContext<never>['progress']
  readonly checkpoint: Checkpoint
  readonly commit: Commit
  readonly sleep: AttemptContext<never>['sleep']
  readonly #interruption: LazySignal
  constructor(interruption: LazySignal, rest: Omit<AttemptContext<never>, 'signal'>) {
    this.#interruption = interruption
    this.input = rest.input
    this.job = rest.job
    this.attempt = rest.attempt
    this.progress = rest.progress
    this.checkpoint = rest.checkpoint
    this.commit = rest.commit
    this.sleep = rest.sleep
  }
  get signal(): AbortSignal {
    return this.#interruption.signal()
  }
}

class Info implements AttemptInfo {
  readonly number: number
  readonly failures: number
  readonly evictions: number
  readonly #job: ClaimedJob
  readonly #lease: () => boolean
  constructor(job: ClaimedJob, lease: () => boolean) {
    this.number = job.attempt
    this.failures = job.failures
    this.evictions = job.evictions
    this.#job = job
    this.#lease = lease
  }
  get fence(): string {
    return fenceOf(this.#job)
  }
  get leaseCertain(): boolean {
    return this.#lease()
  }
}

/** Ordered as text: epochs and attempts are padded to the width of the largest safe integer. */
function fenceOf({ spec, epoch, attempt }: ClaimedJob): string {
  return `${spec.id}:${String(epoch).padStart(16, '0')}:${String(attempt).padStart(16, '0')}`
}
