/** The insert of one job. */
export function inserting(/** @type {string} */ id) {
  const budget = { maxAttempts: 3, maxEvictions: 3, backoffMs: [0], jitter: false }
  const times = { leaseTtlMs: 30_000, timeoutMs: 60_000, enqueuedAtMs: 0 }
  const what = { id, kind: 'k', queue: 'q', band: 2, input: '{}', inputVersion: 1 }
  const spec = {
    ...what,
    ...budget,
    ...times,
    tenant: null,
    keys: [],
    keepMs: 604_800_000,
    lineage: null,
    metadata: null,
    traceparent: null,
  }
  return { insertId: `i-${id}`, jobs: [{ spec, due: { delayMs: 0 } }] }
}
