import { InvalidArgument } from '../../../engine/errors.ts'
import type { LogOfJob, StoreDump, StoreSnapshot } from '../../../engine/ports/store.ts'
import type { Session } from '../database.ts'
import { contentTables } from '../migrations/steps.ts'
import * as schedules from './schedules.ts'
import { recordsOf, selectRecords } from '../rows.ts'
import * as control from './control.ts'
import { lineOf } from './logs.ts'
import { timelineOf } from './timeline.ts'
import { watchOf } from './watch.ts'

/** The whole content, for tests and the bench. */

export async function dump(session: Session): Promise<StoreDump> {
  const jobs = recordsOf(await session.query(`${selectRecords} order by b.id`))
  const claims = await session.query<[token: string, worker: string | null]>(
    'select token, worker from holdfast.claim order by token',
  )
  const leases = await session.query<[token: string, ttlMs: number, worker: string, expiresAtMs: number]>(
    `select c.token, l.ttl_ms, c.worker, l.expires_at
     from holdfast.lease l join holdfast.claim c on c.claim = l.claim order by c.token, l.ttl_ms`,
  )
  const checkpoints = await session.query<[id: string, key: string, value: string]>(
    `select coalesce(b.id, k.seq || ' is gone'), k.key, k.value
     from holdfast.checkpoint k left join holdfast.body b on b.seq = k.seq order by b.id, k.key`,
  )
  const named = await session.query<[key: string, owner: string, expiresAtMs: number]>(
    'select key, owner, expires_at from holdfast.named order by key',
  )
  return {
    jobs,
    claims: claims.map(([token, worker]) => ({ token, worker, void: worker === null })),
    leases: leases.map(([token, ttlMs, worker, expiresAtMs]) => ({ token, ttlMs, worker, expiresAtMs })),
    watch: await watchOf(session),
    checkpoints: checkpoints.map(([id, key, value]) => ({ id, key, value })),
    logs: await logsOf(session),
    named: named.map(([key, owner, expiresAtMs]) => ({ key, owner, expiresAtMs })),
    control: await control.get(session),
    schedules: await schedules.all(session),
    timeline: await timelineOf(session),
  }
}

async function logsOf(session: Session): Promise<LogOfJob[]> {
  const logs = await session.query<[id: string, seq: number, next: number, epoch: number, line: number]>(
    `select b.id, l.seq, l.next, l.epoch, l.line
     from holdfast.log l join holdfast.body b on b.seq = l.seq order by b.id`,
  )
  const lines = await session.query<
    [seq: number, n: number, atMs: number, epoch: number, level: string, text: string]
  >('select seq, n, at, epoch, level, text from holdfast.log_line order by seq, n')
  return logs.map(([id, seq, next, epoch, line]) => ({
    id,
    next,
    epoch,
    line,
    lines: lines.filter(([own]) => own === seq).map(([, ...row]) => lineOf(row)),
  }))
}

interface Content {
  /** Rows as the server writes them. */
  readonly tables: readonly { readonly table: string; readonly rows: readonly string[] }[]
  readonly seq: string
  readonly seqUsed: boolean
}

export async function snapshot(session: Session, store: string): Promise<StoreSnapshot> {
  const tables: { table: string; rows: string[] }[] = []
  for (const table of contentTables) {
    const rows = await session.query<[string]>(`select x::text from holdfast.${table} x`)
    tables.push({ table, rows: rows.map(([row]) => row) })
  }
  const sequence = 'select last_value::text, is_called from holdfast.job_seq'
  const [row] = await session.query<[seq: string, seqUsed: boolean]>(sequence)
  const [seq, seqUsed] = row as [string, boolean]
  return { store, content: { tables, seq, seqUsed } satisfies Content }
}

export async function restore(session: Session, snapshot: StoreSnapshot, store: string): Promise<void> {
  if (snapshot.store !== store) throw new InvalidArgument(`this is a snapshot of a ${snapshot.store} store`)
  const { tables, seq, seqUsed } = snapshot.content as Content
  await empty(session)
  for (const { table, rows } of tables) {
    const put = `insert into holdfast.${table} select * from unnest($1::holdfast.${table}[])`
    if (rows.length > 0) await session.query(put, [rows])
  }
  await setSequence(session, seq, seqUsed)
}

/** Removes everything, counters included. */
export async function reset(session: Session): Promise<void> {
  await empty(session)
  await setSequence(session, '1', false)
}

/** One statement: the tables are small here, and emptying them by `truncate` costs files. */
async function empty(session: Session): Promise<void> {
  const parts = contentTables.map((table) => `${table}_gone as (delete from holdfast.${table})`)
  await session.query(`with ${parts.join(', ')} select`)
}

async function setSequence(session: Session, seq: string, used: boolean): Promise<void> {
  await session.query(`select setval('holdfast.job_seq', $1, $2)`, [seq, used])
}
