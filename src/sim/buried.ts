import type { JobRecord } from '../engine/jobs/record.ts'
import type { ReplayParams } from '../engine/ports/dead-letters.ts'
import type { Store } from '../engine/ports/store.ts'
import type { StoreCall } from '../stores/policy.ts'

/** The jobs that a call about dead letters names, as they lay before it and after it. */
export interface BuriedRows {
  readonly before: ReadonlyMap<string, JobRecord>
  readonly after: ReadonlyMap<string, JobRecord>
}

/**
 * Whether the history of a call needs the rows, too: its answer says neither what a new job states, nor whether it was
 * this call that made it.
 */
export function isBurial(call: StoreCall): boolean {
  return call === 'deadLetters.replay' || call === 'deadLetters.discard'
}

export async function withRows<R>(
  raw: Store,
  params: unknown,
  run: () => Promise<R>,
): Promise<{ readonly reply: R; readonly rows: BuriedRows }> {
  const { ids = [], replays = [] } = params as Partial<ReplayParams> & { readonly ids?: readonly string[] }
  const named = [...ids, ...replays.flatMap(({ id, as }) => [id, as])]
  const before = await rowsOf(raw, named)
  const reply = await run()
  return { reply, rows: { before, after: await rowsOf(raw, named) } }
}

async function rowsOf({ jobs }: Store, ids: readonly string[]): Promise<Map<string, JobRecord>> {
  const rows = new Map<string, JobRecord>()
  for (const id of ids) {
    const job = await jobs.get({ id })
    if (job) rows.set(id, job)
  }
  return rows
}
