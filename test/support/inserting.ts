import type { InsertParams } from '../../src/engine/ports/store.ts'

/** The insert of one job of kind `k` in queue `q`, due at once. */
export function inserting(id: string, input = '{}'): InsertParams {
  const spec = {
    id,
    kind: 'k',
    queue: 'q',
    band: 2,
    input,
    inputVersion: 1,
    maxAttempts: 3,
    maxEvictions: 3,
    backoffMs: [0],
    jitter: false,
    leaseTtlMs: 30_000,
    timeoutMs: 60_000,
    tenant: null,
    keys: [],
    keepMs: 604_800_000,
    lineage: null,
    metadata: null,
    traceparent: null,
    enqueuedAtMs: 0,
  }
  return { insertId: `i-${id}`, jobs: [{ spec, due: { delayMs: 0 } }] }
}
