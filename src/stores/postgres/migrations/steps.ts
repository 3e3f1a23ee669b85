/**
 * The tables, as the steps that made them. A step never changes once it is released, to the letter, since its
 * checksum is kept; the next one is added. Down-level releases go on beside a step that says so (`needs`).
 */
export interface Step {
  readonly version: number
  /** The oldest schema version whose release can go on working beside this one. */
  readonly needs: number
  readonly sql: string
}

/**
 * A job is two rows with one key. `body` never changes, so a claim or a settle of a job with a large input does
 * not write that input again; what no statement looks into is one JSON text there (`spec`). `job` is narrow, and
 * everything that changes is in it.
 *
 * `place` says in which index of waiting jobs a row is, and nothing else is in a predicate or a key that changes:
 * 0 in exact claim order, 1 the same for those on their last eviction, 2 those without a place in the queue, null
 * for all that do not wait. So a claim writes one index, and a settle none: it is a heap-only update, for which
 * the fill factor keeps room; at 50 a page is too full for its claimed rows, which are a little larger. `kind_key` is a hash of the kind: a queue and a kind of 512 characters would not
 * fit into an index row.
 *
 * A claim knows its jobs (`jobs`, in claim order), not the other way round: an index from jobs to claims would be
 * two more writes a job. `bound_ms` is the shortest timeout among them; a void header has neither worker nor bound.
 * A heartbeat writes `lease` alone, of which no index covers what it writes.
 *
 * Instants are whole ms since 1970 in bigint, which hold any that a Date can name; JSON is text, which holds any
 * character; text compares by bytes. There are no foreign keys: each would lock the row it points at.
 */
const tables = `
create sequence holdfast.job_seq;
create sequence holdfast.claim_seq;

create table holdfast.body (
  seq bigint primary key,
  lease_ttl_ms bigint not null,
  bound_ms bigint not null,
  enqueued_at bigint not null,
  created_at bigint not null,
  id text collate "C" not null unique,
  spec text not null,
  metadata text,
  traceparent text,
  insert_id text not null,
  input text not null
);

create table holdfast.job (
  seq bigint primary key,
  version bigint not null,
  updated_at bigint not null,
  visible_at bigint,
  epoch bigint not null,
  kind_key integer not null,
  attempt integer not null,
  failures integer not null,
  evictions integer not null,
  band smallint not null check (band between 0 and 3),
  state smallint not null check (state between 0 and 4),
  queue text collate "C" not null,
  kind text collate "C" not null,
  place smallint check ((place is not null) = (state = 0)),
  settle_kind smallint,
  settle_epoch bigint,
  claim bigint,
  finished_at bigint,
  cancel_requested_at bigint,
  progress text,
  result text,
  error text,
  last_command text,
  check ((claim is not null) = (state = 1))
) with (fillfactor = 45);

create index job_ready on holdfast.job (queue, kind_key, band, visible_at, seq) where place = 0;
create index job_solo on holdfast.job (queue, kind_key, band, visible_at, seq) where place = 1;
create index job_undispatched on holdfast.job (seq) where place = 2;

create table holdfast.claim (
  claim bigint primary key,
  made_at bigint not null,
  bound_ms bigint,
  token text collate "C" not null unique,
  worker text collate "C",
  jobs bigint[] not null
) with (toast_tuple_target = 8160);

create table holdfast.lease (
  claim bigint not null,
  ttl_ms bigint not null,
  expires_at bigint not null,
  primary key (claim, ttl_ms)
) with (fillfactor = 50);

create table holdfast.watch (
  one boolean primary key check (one),
  sweep_ms bigint not null,
  seen_since bigint,
  seen_at bigint
) with (fillfactor = 50);

create table holdfast.checkpoint (
  seq bigint not null,
  key text collate "C" not null,
  value text not null,
  primary key (seq, key)
);

create table holdfast.named (
  key text collate "C" primary key,
  owner text collate "C" not null,
  expires_at bigint not null
) with (fillfactor = 50);

create table holdfast.control (
  what text collate "C" not null check (what in ('hold', 'pause')),
  queue text collate "C" not null,
  primary key (what, queue)
);
`

/**
 * The stock settings vacuum a table when a fifth of it is dead: in a table that keeps what is finished that is
 * never, while a claim walks over the index entries of all that were claimed since.
 */
const vacuuming = `
alter table holdfast.job set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0);
alter table holdfast.body set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
alter table holdfast.claim set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0);
alter table holdfast.lease set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0);
`

/**
 * `dead_at` holds the place of a dead letter that waits for somebody, and nothing else, so that no other end of a job
 * writes its index. What a job is found by are rows of `lookup`, in the order of their jobs; `labels` says the same once
 * more, for who reads the job. What a newer release has added to a specification, and this one does not know, is the
 * JSON text `beyond`. Lines of a log lie in their order; its header says what comes next, and what was taken last:
 * of which attempt, up to which of its lines, and how many at once.
 */
const record = `
alter table holdfast.body add column labels text;
alter table holdfast.body add column beyond text;
alter table holdfast.job add column dead_at bigint;
alter table holdfast.job add column replayed_as text;
alter table holdfast.job add column events text[];

update holdfast.job set dead_at = finished_at where state = 3;
create index job_dead on holdfast.job (dead_at, seq) where dead_at is not null;

create table holdfast.lookup (
  key text collate "C" not null,
  seq bigint not null,
  primary key (key, seq)
);

create table holdfast.timeline (
  one boolean primary key check (one),
  timeline bigint not null,
  command text not null
);

create table holdfast.log (
  seq bigint primary key,
  next bigint not null,
  epoch bigint not null,
  line bigint not null,
  taken integer not null
) with (fillfactor = 50);

create table holdfast.log_line (
  seq bigint not null,
  n bigint not null,
  at bigint not null,
  epoch bigint not null,
  level text not null,
  text text not null check (octet_length(text) <= 4096),
  primary key (seq, n)
);

create table holdfast.schedule (
  key text collate "C" primary key,
  version text not null,
  next_at bigint,
  last_at bigint,
  made_at bigint not null,
  paused boolean not null,
  spec text not null
) with (fillfactor = 50);
create index schedule_due on holdfast.schedule (next_at, key) where not paused;
`

export const steps: readonly Step[] = [
  { version: 1, needs: 1, sql: tables + vacuuming },
  // What a release of version 1 beside it fails for good is no dead letter, until it is retried or goes with age.
  { version: 2, needs: 1, sql: record },
]

/** All tables that hold content, in no particular order. */
export const contentTables: readonly string[] = [
  'body',
  'job',
  'claim',
  'lease',
  'watch',
  'checkpoint',
  'named',
  'control',
  'lookup',
  'timeline',
  'log',
  'log_line',
  'schedule',
]
