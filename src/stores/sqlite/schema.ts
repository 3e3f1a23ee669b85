/**
 * The tables, as the steps that made them. A step never changes once it is released; the next one is added.
 *
 * A job is two rows with one key. `holdfast_body` never changes, so a claim or a settle of a job with a large
 * input does not write that input again. `holdfast_job` is narrow, and no longer at the end of a job than at its
 * start (codes, not words), so that a settle splits no page. Two partial indexes are in exact claim order and
 * hold queued jobs alone, those on their last eviction (`solo` 1) apart, so that a claim reads only what it
 * takes; the rest of the table, however long, costs it nothing. A third holds the jobs without a visible time
 * (`solo` 2): named in the index of a claim by "visible_at is not null", SQLite would read the table for each.
 *
 * A claim knows its jobs (a list of `seq`, in claim order), not the other way round: an index from jobs to
 * claims would be two more writes a job. `bound_ms` is the shortest timeout among them, so that the search for
 * late attempts skips whole claims. A heartbeat writes `holdfast_lease` alone, which no index covers; that a
 * cancel was requested it reads from the job. Checkpoints may be large and many, so they are no column of it.
 *
 * `dead_at` holds the place of a dead letter that waits for somebody, and nothing else. What a job is found by are rows
 * of `holdfast_lookup`, in the order of their jobs; `labels` says the same once more, for who reads the job.
 * What a newer release has added to a specification, and this one does not know, is the JSON text `beyond`.
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
  {
    version: 2,
    // A release of version 1 beside it claims in spite of hold and pause, and puts a cancelled job back into its
    // queue, where the next attempt is told at its first heartbeat.
    needs: 1,
    sql: `
alter table holdfast_body add column metadata text;
alter table holdfast_body add column traceparent text;
alter table holdfast_job add column cancel_requested_at integer;
alter table holdfast_job add column progress text;
alter table holdfast_job add column last_command text;

create index holdfast_job_undispatched on holdfast_job (seq) where state = 0 and solo = 2;

create table holdfast_checkpoint (
  seq integer not null,
  key text not null,
  value text not null,
  primary key (seq, key)
) strict;

create table holdfast_named (
  key text primary key,
  owner text not null,
  expires_at integer not null
) strict, without rowid;

create table holdfast_control (
  what text not null check (what in ('hold', 'pause')),
  queue text not null,
  primary key (what, queue)
) strict, without rowid;
`,
  },
  {
    version: 3,
    // What a release of version 2 beside it fails for good is no dead letter, until it is retried or goes with age.
    needs: 1,
    sql: `
alter table holdfast_body add column keep_ms integer not null default 604800000;
alter table holdfast_body add column labels text;
alter table holdfast_body add column beyond text;
alter table holdfast_job add column dead_at integer;
alter table holdfast_job add column replayed_as text;
alter table holdfast_job add column events text;

update holdfast_job set dead_at = finished_at where state = 3;
create index holdfast_job_dead on holdfast_job (dead_at, seq, state) where dead_at is not null;

create table holdfast_lookup (
  key text not null,
  seq integer not null,
  primary key (key, seq)
) strict, without rowid;

create table holdfast_timeline (
  one integer primary key check (one = 1),
  timeline integer not null,
  command text not null
) strict;

create table holdfast_log (
  seq integer primary key,
  next integer not null,
  epoch integer not null,
  line integer not null
) strict;

create table holdfast_log_line (
  seq integer not null,
  n integer not null,
  at integer not null,
  epoch integer not null,
  level text not null,
  text text not null check (length(cast(text as blob)) <= 4096),
  primary key (seq, n)
) strict, without rowid;

create table holdfast_schedule (
  key text primary key,
  version text not null,
  spec text not null,
  paused integer not null,
  next_at integer,
  last_at integer,
  made_at integer not null
) strict;
create index holdfast_schedule_due on holdfast_schedule (next_at, key) where paused = 0;
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
  'holdfast_checkpoint',
  'holdfast_named',
  'holdfast_control',
  'holdfast_lookup',
  'holdfast_timeline',
  'holdfast_log',
  'holdfast_log_line',
  'holdfast_schedule',
]
