// The hand-written ceiling: one table, one claim, one settle, nothing else to do. It keeps what a fair loop must
// keep: a claim raises an epoch, a settle applies to that epoch alone, and finished rows stay.

/** About 95 bytes, as the peers are given. */
export const input = { n: 1, s: 'x'.repeat(80) }
export const payload = JSON.stringify(input)

export const tables = `create table job (id bigint generated always as identity primary key, queue text not null,
    state smallint not null default 0, priority smallint not null default 0, run_at timestamptz not null default now(),
    epoch int not null default 0, lease_until timestamptz, worker int, payload jsonb not null);
  create index job_ready on job (queue, priority, run_at, id) where state = 0;
  create index job_lease on job (lease_until) where state = 1`

/** @param {number} limit */
export function claim(limit) {
  return {
    name: `claim${limit}`,
    text: `update job j set state = 1, epoch = epoch + 1, worker = 1, lease_until = now() + interval '30 s'
      where ctid = any(array(select ctid from job where queue = 'q' and state = 0 and run_at <= now()
        order by priority, run_at, id limit ${limit} for update skip locked)) returning j.id, j.payload, j.epoch`,
  }
}

/** By key and then by place: with a join the planner reads all rows in state 1 for each row that is given. */
const settle = {
  name: 'settle',
  text: `update job set state = 2, lease_until = null where ctid = any(array(
    select j.ctid from unnest($1::bigint[], $2::int[]) as g(id, epoch)
      cross join lateral (select ctid, state, epoch from job where id = g.id offset 0) j
      where j.epoch = g.epoch and j.state = 1))`,
}

/** @param {readonly { readonly id: string, readonly epoch: number }[]} rows */
export function settled(rows) {
  return { ...settle, values: [rows.map(({ id }) => id), rows.map(({ epoch }) => epoch)] }
}

/** Many rows in one statement. */
export const insertMany = {
  name: 'insertMany',
  text: `insert into job (queue, payload) select 'q', p::jsonb from unnest($1::text[]) p`,
}

export const insertOne = { name: 'insertOne', text: `insert into job (queue, payload) values ('q', $1)` }

/** What an enqueue that can be repeated needs of the table. */
export const callersIds = 'alter table job add column name text not null unique'
export const insertManyOnce = {
  name: 'insertManyOnce',
  text: `insert into job (queue, name, payload) select 'q', n, p::jsonb from unnest($1::text[], $2::text[]) as u(n, p)
    on conflict (name) do nothing`,
}
