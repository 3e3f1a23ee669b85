/**
 * The tables, as the steps that made them. A step never changes once it is released; the next one is added.
 *
 * A job is two rows with one key. `holdfast_body` never changes, so a claim or a settle of a job with a large
 * input does not write that input again. `holdfast_job` is narrow, and no longer at the end of a job than at its
 * start (codes, not words), so that a settle splits no page. Its two partial indexes are in exact claim
 * order and hold queued jobs alone, those on their last eviction apart, so that a claim reads only what it
 * takes; the rest of the table, however long, costs it nothing.
 *
 * A claim knows its jobs (a list of `seq`, in claim order), not the other way round: an index from jobs to
 * claims would be two more writes a job. `bound_ms` is the shortest timeout among them, so that the search for
 * late attempts skips whole claims. A heartbeat writes `holdfast_lease` alone, which no index covers.
 *
 * Instants are whole ms since 1970; text compares by bytes (BINARY), which is code point order in UTF-8.
 */
export interface Step {
  readonly version: number
  /** The oldest schema version whose release can go on working beside this one. */
  readonly needs: number
  readonly sql: string
}

export const steps: readonly Step[] = [
  {
    version: 1,
    needs: 1,
    sql: `
create table holdfast_body (
  seq integer primary key,
  id text not null unique,
  input_version integer not null,
  max_attempts integer not null,
  max_evictions integer not null,
  backoff_ms text not null,
  jitter integer not null,
  lease_ttl_ms integer not null,
  timeout_ms integer not null,
  enqueued_at integer not null,
  created_at integer not null,
  insert_id text not null,
  input text not null
) strict;

create table holdfast_job (
  seq integer primary key autoincrement,
  queue text not null,
  kind text not null,
  band integer not null check (band between 0 and 3),
  state integer not null check (state between 0 and 4),
  solo integer not null,
  epoch integer not null,
  attempt integer not null,
  failures integer not null,
  evictions integer not null,
  version integer not null,
  visible_at integer check (visible_at is null or state = 0),
  claim integer check ((claim is not null) = (state = 1)),
  updated_at integer not null,
  finished_at integer,
  settle_epoch integer,
  settle_kind integer,
  result text,
  error text
) strict;

create index holdfast_job_ready on holdfast_job (queue, kind, band, visible_at, seq) where state = 0 and solo = 0;
create index holdfast_job_solo on holdfast_job (queue, kind, band, visible_at, seq) where state = 0 and solo = 1;

create table holdfast_claim (
  claim integer primary key,
  token text not null unique,
  worker text,
  made_at integer not null,
  bound_ms integer not null,
  jobs text not null
) strict;

create table holdfast_lease (
  claim integer not null,
  ttl_ms integer not null,
  expires_at integer not null,
  primary key (claim, ttl_ms)
) strict, without rowid;

create table holdfast_watch (
  one integer primary key check (one = 1),
  sweep_ms integer not null,
  seen_since integer,
  seen_at integer
) strict;
`,
  },
]

/** All tables that hold content, in no particular order. */
export const tables: readonly string[] = [
  'holdfast_body',
  'holdfast_job',
  'holdfast_claim',
  'holdfast_lease',
  'holdfast_watch',
]
