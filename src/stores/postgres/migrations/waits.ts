import { type Clock, sleep } from '../../../engine/ports/clock.ts'
import type { Database } from '../database.ts'

export interface WaitsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly everyMs: number
  readonly tell: (message: string) => void
}

/** Runs a migration and says, as long as it waits for somebody, for whom: else a deploy just stands still. */
export async function tellingWaits<R>(options: WaitsOptions, migrate: () => Promise<R>): Promise<R> {
  const over = new AbortController()
  const watching = watch(options, over.signal)
  try {
    return await migrate()
  } finally {
    over.abort()
    await watching
  }
}

async function watch({ database, clock, everyMs, tell }: WaitsOptions, over: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(clock, everyMs, 'migration-waits', over).catch(() => {})
    if (over.aborted) return
    try {
      const rows = await database.autocommit('urgent', (session) => session.query<Row>(blockers))
      if (over.aborted) return
      for (const row of rows) tell(messageOf(row))
    } catch {
      // The migration itself will hear of it.
    }
  }
}

type Row = [pid: number, application: string, state: string, forS: number]

/**
 * Those in whose way the script of a migration is, in this database. The script is known by its lock, which the
 * server shows among its first 1024 bytes.
 */
const blockers = `select b.pid, coalesce(b.application_name, ''), coalesce(b.state, 'of another user'),
    coalesce(extract(epoch from clock_timestamp() - b.xact_start), 0)::int
  from pg_stat_activity b
  where b.pid in (select unnest(pg_blocking_pids(a.pid)) from pg_stat_activity a
    where a.datname = current_database() and a.wait_event_type = 'Lock'
      and a.query like 'begin%hashtext(''holdfast migration'')%')
  order by b.pid`

function messageOf([pid, application, state, forS]: Row): string {
  const whose = application === '' ? '' : ` (${application})`
  return `the migration waits for a lock of session ${pid}${whose}, which is ${state}, in a transaction for ${forS} s`
}
