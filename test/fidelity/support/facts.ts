import { once } from 'node:events'
import pg from 'pg'
import type { HistoryEvent, StoreEvent } from '../../../src/engine/history.ts'
import type { Outcome } from '../../../src/engine/jobs/record.ts'
import { digest } from '../../../src/sim/hash.ts'
import { settleKinds, stateOf } from '../../../src/stores/postgres/rows.ts'

/**
 * What happened in the database, told by the database: triggers write down each change, in the transaction that
 * makes it, so that what was undone is not told, and what was committed without an answer is. The name of a
 * connection says which process it belongs to, the time is that of the commit.
 */
export async function watchDatabase(url: string): Promise<void> {
  await onServer(url, triggers)
}

/** All facts since, in their order; `ms` are those of the server's clock. */
export async function factsOf(url: string): Promise<Fact[]> {
  const { rows } = await onServer(
    url,
    `select who, type, data, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as ms
     from fidelity.fact order by pg_xact_commit_timestamp(xmin), n`,
  )
  return (rows as Row[]).map(({ who, type, data, ms }) => {
    const [node, incarnation] = who.split('.') as [string, string | undefined]
    return { ms, node, incarnation: Number(incarnation ?? 0), event: eventOf(type, data) }
  })
}

/** Resolves when so many jobs are in the end. */
export async function allEnded(url: string, jobs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('listen fidelity')
    const ended = async (): Promise<number> => {
      const { rows } = await client.query(
        'select count(*)::int as n from holdfast.job where finished_at is not null',
      )
      return (rows[0] as { readonly n: number }).n
    }
    for (;;) {
      const told = once(client, 'notification')
      if ((await ended()) === jobs) return
      await told
    }
  } finally {
    await client.end()
  }
}

/** How far the server's clock, in ms since 1970, is ahead of this machine's monotonic one. */
export async function clockAheadMs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let best = { roundMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let k = 0; k < 50; k++) {
    const sentMs = monotonicMs()
    const { rows } = await client.query('select extract(epoch from clock_timestamp())::float8 * 1000 as ms')
    const roundMs = monotonicMs() - sentMs
    const { ms } = rows[0] as { readonly ms: number }
    if (roundMs < best.roundMs) best = { roundMs, aheadMs: ms - (sentMs + roundMs / 2) }
  }
  await client.end()
  return best.aheadMs
}

/** One clock for all processes of this machine. */
export function monotonicMs(ns: bigint = process.hrtime.bigint()): number {
  return Number(ns) / 1e6
}

export interface Fact extends Pick<HistoryEvent, 'node' | 'incarnation'> {
  readonly ms: number
  readonly event: StoreEvent
}

interface Row {
  readonly who: string
  readonly type: string
  readonly data: Data
  readonly ms: number
}

type Data = Readonly<Record<string, never>>

function eventOf(type: string, data: Data): StoreEvent {
  const { spec, input, result, kind, state, ...rest } = data as Record<string, unknown>
  switch (type) {
    case 'job.inserted': {
      const stated = JSON.parse(spec as string) as Record<string, unknown>
      const { maxAttempts, maxEvictions, timeoutMs, backoffMs, jitter } = stated
      const jobSpec = { maxAttempts, maxEvictions, timeoutMs, backoffMs, jitter, created: true }
      return { type, ...rest, kind, ...jobSpec, input: digest(input as string) } as StoreEvent
    }
    case 'job.settled': {
      const outcome = settleKinds[kind as number] as Outcome['kind']
      const known = { outcome, state: stateOf(state as number), settled: 'applied', repeated: false }
      const kept = outcome === 'succeeded' ? digest(result as string) : 0
      return { type, ...rest, ...known, result: kept } as StoreEvent
    }
    case 'job.reclaimed':
    case 'job.timedOut':
      return { type, ...rest, state: stateOf(state as number) } as StoreEvent
    case 'watch.moved':
      return { type, kind, ...rest } as StoreEvent
    default:
      return { type, ...rest } as StoreEvent
  }
}

async function onServer(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

const triggers = `
create schema fidelity;
create table fidelity.fact (
  n bigint generated always as identity,
  who text not null default current_setting('application_name'),
  type text not null,
  data json not null
);
create function fidelity.of_job() returns trigger language plpgsql as $$
declare
  b holdfast.body;
  c holdfast.claim;
begin
  select * into b from holdfast.body x where x.seq = new.seq;
  if new.finished_at is not null then
    notify fidelity;
  end if;
  if tg_op = 'INSERT' then
    insert into fidelity.fact (type, data) values ('job.inserted', json_build_object('job', b.id, 'kind', new.kind,
      'queue', new.queue, 'band', new.band, 'leaseTtlMs', b.lease_ttl_ms, 'spec', b.spec, 'input', b.input,
      'dueMs', new.visible_at - new.updated_at, 'undispatched', new.visible_at is null));
  elsif old.state = 0 and new.state = 1 then
    select * into c from holdfast.claim x where x.claim = new.claim;
    insert into fidelity.fact (type, data) values ('job.claimed', json_build_object('job', b.id, 'epoch', new.epoch,
      'attempt', new.attempt, 'failures', new.failures, 'evictions', new.evictions, 'token', c.token,
      'leaseTtlMs', b.lease_ttl_ms, 'batch', cardinality(c.jobs)));
  elsif old.state = 1 and new.epoch > old.epoch and new.evictions > old.evictions then
    insert into fidelity.fact (type, data) values ('job.reclaimed', json_build_object('job', b.id, 'epoch', new.epoch,
      'evictions', new.evictions, 'state', new.state));
  elsif old.state = 1 and new.epoch > old.epoch then
    insert into fidelity.fact (type, data) values ('job.timedOut', json_build_object('job', b.id, 'epoch', new.epoch,
      'failures', new.failures, 'state', new.state));
  elsif old.state = 1 and new.state <> 1 then
    insert into fidelity.fact (type, data) values ('job.settled', json_build_object('job', b.id, 'epoch', new.epoch,
      'kind', new.settle_kind, 'state', new.state,
      'error', case new.settle_kind when 1 then new.error::json->>'code' end, 'result', new.result,
      'permanent', new.state = 3 and new.failures < (b.spec::json->>'maxAttempts')::bigint,
      'delayMs', case when new.state = 0 then new.visible_at - new.updated_at else 0 end));
  end if;
  return null;
end $$;
create trigger fidelity after insert or update on holdfast.job for each row execute function fidelity.of_job();
create function fidelity.of_lease() returns trigger language plpgsql as $$
begin
  insert into fidelity.fact (type, data)
    select 'lease.renewed', json_build_object('job', b.id, 'epoch', j.epoch)
    from holdfast.claim c cross join unnest(c.jobs) as u(seq)
      join holdfast.job j on j.seq = u.seq and j.claim = c.claim and j.state = 1
      join holdfast.body b on b.seq = j.seq and b.lease_ttl_ms = new.ttl_ms
    where c.claim = new.claim;
  return null;
end $$;
create trigger fidelity after update on holdfast.lease for each row execute function fidelity.of_lease();
create function fidelity.of_watch() returns trigger language plpgsql as $$
begin
  insert into fidelity.fact (type, data) values ('watch.moved', json_build_object('seenSinceMs', new.seen_since,
    'kind', case when new.seen_since is distinct from old.seen_since then 'restarted' else 'moved' end));
  return null;
end $$;
create trigger fidelity after update on holdfast.watch for each row execute function fidelity.of_watch();
`
