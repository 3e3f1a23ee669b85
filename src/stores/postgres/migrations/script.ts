import { defaultSchema, inSchema, requireIdentifier } from '../names.ts'
import { type Step, steps } from './steps.ts'

export interface MigrationOptions {
  /** Default `holdfast`. */
  readonly schema?: string
  /** A role that may work with the tables but not change them; it must exist. Default: only the migrator may. */
  readonly runtimeRole?: string
}

/**
 * All steps as one SQL text, for whoever may not let a program change the schema; `store.migrate()` runs the same.
 * It begins and commits by itself: what is killed in it leaves what was there. It may be run again, and by
 * several at once: the lock lets one after the other through, and the later ones find the steps done.
 */
export function migrationSql({ schema = defaultSchema, runtimeRole }: MigrationOptions = {}): string {
  requireIdentifier('schema', schema)
  if (runtimeRole !== undefined) requireIdentifier('runtimeRole', runtimeRole)
  const parts = [head, ...steps.map(guarded), ...(runtimeRole === undefined ? [] : [grants(runtimeRole)])]
  return `${inSchema(parts.join('\n'), schema)}\ncommit;\n`
}

/** The lock is the transaction's, never the session's. Nobody waits for it for ever. */
const head = `begin isolation level read committed;
set local lock_timeout = '60s';
set local statement_timeout = '120s';
set local client_min_messages = warning;
select pg_advisory_xact_lock(hashtext('holdfast migration'), hashtext('holdfast'));
do $body$ begin
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception 'the database must have the encoding UTF8, not %', current_setting('server_encoding');
  end if;
  if to_regnamespace('holdfast') is null then
    create schema holdfast;
  end if;
end $body$;
create table if not exists holdfast.migration (
  version integer primary key,
  needs integer not null,
  checksum text not null,
  applied_at timestamptz not null
);
`

/** A step runs only if it has not, and only on the schema of the one before it. */
function guarded({ version, needs, sql }: Step): string {
  const text = `$step$${sql}$step$`
  return `do $body$ begin
  if not exists (select from holdfast.migration where version >= ${version}) then
    execute ${text};
    insert into holdfast.migration (version, needs, checksum, applied_at)
      values (${version}, ${needs}, '${checksum(sql)}', now());
  end if;
end $body$;
`
}

function grants(role: string): string {
  return `grant usage on schema holdfast to ${role};
grant select, insert, update, delete on all tables in schema holdfast to ${role};
revoke insert, update, delete on holdfast.migration from ${role};
grant usage, select, update on all sequences in schema holdfast to ${role};
`
}

/** Of a step as it is written. It guards against a released step that was edited, not against an attacker. */
export function checksum(text: string): string {
  let [low, high] = [0x811c9dc5, 0x9dc5811c]
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x85ebca6b) + (low >>> 13)
  }
  return [low, high].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('')
}
