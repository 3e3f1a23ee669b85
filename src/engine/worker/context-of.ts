import { InvalidArgument, LeaseLost } from '../errors.ts'
import { shown } from '../given.ts'
import type { AttemptContext, Checkpoint, Commit } from '../jobs/context.ts'
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
  lease: { readonly certain: boolean },
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

  return {
    input: input as never,
    job: { id, kind, queue, metadata: metadata ?? {}, traceparent },
    attempt: {
      number: job.attempt,
      failures: job.failures,
      evictions: job.evictions,
      // Padding costs more than most handlers.
      get fence() {
        return fenceOf(job)
      },
      get leaseCertain() {
        return lease.certain
      },
    },
    get signal() {
      return interruption.signal
    },
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
    sleep: (delayMs) => sleep(clock, delayMs, 'sleep', interruption.signal),
  }
}

/** Ordered as text: epochs and attempts are padded to the width of the largest safe integer. */
function fenceOf({ spec, epoch, attempt }: ClaimedJob): string {
  return `${spec.id}:${String(epoch).padStart(16, '0')}:${String(attempt).padStart(16, '0')}`
}
