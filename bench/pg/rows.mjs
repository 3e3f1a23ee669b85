// Many rows at once, as the store itself would have made them.
import { kindKey } from '../../dist/stores/postgres/rows.js'

const kind = 'kind'
const spec = JSON.stringify({
  inputVersion: 1,
  maxAttempts: 3,
  maxEvictions: 3,
  backoffMs: [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000],
  jitter: false,
  leaseTtlMs: 30_000,
  timeoutMs: 300_000,
})
const input = JSON.stringify({ n: 1, s: 'x'.repeat(80) })

/** @param {string} state @param {string} place @param {number} from @param {number} to @param {string} [claim] */
function jobs(state, place, from, to, claim = 'null') {
  return `insert into holdfast.body (seq, lease_ttl_ms, bound_ms, enqueued_at, created_at, id, spec, insert_id, input)
    select g, 30000, 330000, 0, 0, 'job-' || lpad(g::text, 12, '0'), '${spec}', 'fill', '${input}' from generate_series(${from}, ${to}) g;
  insert into holdfast.job (seq, visible_at, claim, version, updated_at, finished_at, kind_key, epoch, attempt, failures,
      evictions, band, state, place, queue, kind)
    select g, g, ${claim}, 1, 0, case when ${state} > 1 then 1 end, ${kindKey(kind)}, 1, 1, 0, 0, 2, ${state}, ${place}, 'default', '${kind}'
    from generate_series(${from}, ${to}) g;`
}

/** 200,000 rows in the reference mix: 11,400 waiting, 600 running under 60 claims, the rest over. */
export const aged = `${jobs('2', 'null', 1, 180_000)} ${jobs('3', 'null', 180_001, 186_000)}
  ${jobs('4', 'null', 186_001, 188_000)} ${jobs('1', 'null', 188_001, 188_600, '1 + (g - 188001) / 10')}
  ${jobs('0', '0', 188_601, 200_000)}
  insert into holdfast.claim (claim, made_at, bound_ms, token, worker, jobs)
    select c, floor(extract(epoch from now()) * 1000), 330000, 'token-' || c, 'bench',
      array(select generate_series(188001 + (c - 1) * 10, 188000 + c * 10)::bigint) from generate_series(1, 60) c;
  insert into holdfast.lease (claim, ttl_ms, expires_at)
    select c, 30000, floor(extract(epoch from now()) * 1000) + 30000 from generate_series(1, 60) c;
  select setval('holdfast.claim_seq', 60); select setval('holdfast.job_seq', 200000);`

/** @param {number} count @param {number} [from] The first sequence. */
export const waiting = (count, from = 1) =>
  `${jobs('0', '0', from, from + count - 1)} select setval('holdfast.job_seq', ${from + count - 1});`
