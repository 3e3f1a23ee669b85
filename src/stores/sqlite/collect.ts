import type { Operation } from './statements.ts'

/** In the order they were made. A claim is spent when none of the jobs it lists runs under it. */
const spent = `select claim from holdfast_claim c where case
  when c.worker is null then holdfast_now() - c.made_at >= ?
  else not exists (select 1 from json_each(c.jobs) e cross join holdfast_job j on j.seq = e.value
    where j.claim = c.claim)
  end order by claim limit ? + 0`

export function collect(
  { query, command }: Operation,
  { limit, voidMs }: { readonly limit: number; readonly voidMs: number },
): { readonly removed: number } {
  if (limit <= 0) return { removed: 0 }
  const claims = query<[claim: number]>(spent).all(voidMs, limit)
  if (claims.length === 0) return { removed: 0 }
  const list = JSON.stringify(claims.flat())
  command('delete from holdfast_lease where claim in (select value from json_each(?))').run(list)
  command('delete from holdfast_claim where claim in (select value from json_each(?))').run(list)
  return { removed: claims.length }
}
