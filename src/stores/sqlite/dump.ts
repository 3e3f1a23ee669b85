import { InvalidArgument } from '../../engine/errors.ts'
import type { StoreDump, StoreSnapshot } from '../../engine/ports/store.ts'
import * as control from './control.ts'
import * as schedules from './schedules.ts'
import { lineOf } from './logs.ts'
import { jobsOf, selectJobs } from './rows.ts'
import { tables } from './schema.ts'
import type { Operation, Value } from './statements.ts'
import { timelineOf } from './timeline.ts'
import { watchOf } from './watch.ts'

/** The whole content, for tests and the bench. */

export function dump(operation: Operation): StoreDump {
  const { query } = operation
  const claims = query<[string, string | null]>('select token, worker from holdfast_claim order by token')
  const leases = query<[string, number, string, number]>(
    `select c.token, l.ttl_ms, c.worker, l.expires_at
     from holdfast_lease l join holdfast_claim c on c.claim = l.claim order by c.token, l.ttl_ms`,
  )
  const checkpoints = query<[string, string, string]>(
    `select coalesce(b.id, k.seq || ' is gone'), k.key, k.value
     from holdfast_checkpoint k left join holdfast_body b on b.seq = k.seq order by b.id, k.key`,
  )
  const logs = query<[string, number, number, number]>(
    `select b.id, l.next, l.epoch, l.line from holdfast_log l join holdfast_body b on b.seq = l.seq order by b.id`,
  )
  const lines = query<[number, number, number, string, string]>(
    `select n, at, epoch, level, text from holdfast_log_line
     where seq = (select seq from holdfast_body where id = ?) order by n`,
  )
  const named = query<[string, string, number]>(
    'select key, owner, expires_at from holdfast_named order by key',
  )
  return {
    jobs: jobsOf(operation, `${selectJobs} order by b.id`),
    claims: claims.all().map(([token, worker]) => ({ token, worker, void: worker === null })),
    leases: leases
      .all()
      .map(([token, ttlMs, worker, expiresAtMs]) => ({ token, ttlMs, worker, expiresAtMs })),
    watch: watchOf(operation),
    checkpoints: checkpoints.all().map(([id, key, value]) => ({ id, key, value })),
    logs: logs.all().map(([id, next, epoch, line]) => {
      return { id, next, epoch, line, lines: lines.all(id).map(lineOf) }
    }),
    named: named.all().map(([key, owner, expiresAtMs]) => ({ key, owner, expiresAtMs })),
    control: control.get(operation),
    schedules: schedules.all(operation),
    timeline: timelineOf(operation),
  }
}

interface Rows {
  readonly table: string
  readonly rows: readonly (readonly Value[])[]
}

/** Rows, not the file: they can be put back under a handle that is open, and its statements stay prepared. */
export function snapshot({ query }: Operation): StoreSnapshot {
  const content: Rows[] = ['sqlite_sequence', ...tables].map((table) => ({
    table,
    rows: query<Value[]>(`select * from ${table}${sequenceOnly(table)}`).all(),
  }))
  return { store: 'sqlite', content }
}

export function restore(operation: Operation, { store, content }: StoreSnapshot): void {
  if (store !== 'sqlite') throw new InvalidArgument(`this is a snapshot of a ${store} store`)
  reset(operation)
  for (const { table, rows } of [...(content as readonly Rows[])].reverse()) {
    // Inserting jobs sets their sequence, so it is put right after them.
    if (table === 'sqlite_sequence') operation.command(`delete from ${table}${sequenceOnly(table)}`).run()
    for (const row of rows) {
      operation.command(`insert into ${table} values (${row.map(() => '?').join(', ')})`).run(...row)
    }
  }
}

/** Removes everything, counters included. */
export function reset({ command }: Operation): void {
  for (const table of ['sqlite_sequence', ...tables]) {
    command(`delete from ${table}${sequenceOnly(table)}`).run()
  }
}

/** SQLite's own table of counters may serve others too. */
function sequenceOnly(table: string): string {
  return table === 'sqlite_sequence' ? ` where name = 'holdfast_job'` : ''
}
