import { InvalidArgument } from '../errors.ts'
import type { Checkpoint } from '../jobs/context.ts'
import { toJson } from '../jobs/json.ts'
import { requireName } from '../jobs/text.ts'
import type { ClaimedJob } from '../ports/store.ts'
import { fenced } from './fenced.ts'
import type { WorkerParts } from './parts.ts'

/** The durable notes of a job, read and written by one attempt of it. */
export function createCheckpoint(
  { store, ask, payloads }: Pick<WorkerParts, 'store' | 'ask' | 'payloads'>,
  job: ClaimedJob,
): Checkpoint {
  const { id } = job.spec
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

  async function keep(key: string, value: unknown): Promise<void> {
    const json = toJson(value)
    if (json === null) throw new InvalidArgument(`checkpoint ${key}: undefined has no JSON form; keep null`)
    const text = await payloads.stored(`checkpoint ${key} of job ${id}`, json)
    const params = { id, epoch: job.epoch, seq: job.seq, key, value: text }
    await fenced(job, ask('jobs.checkpoint', store.jobs.checkpoint(params)))
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

  return (async (key: string, ...value: readonly unknown[]): Promise<unknown> => {
    requireName('a checkpoint key', key, InvalidArgument)
    return value.length === 0 ? read(key) : keep(key, value[0])
  }) as Checkpoint
}
