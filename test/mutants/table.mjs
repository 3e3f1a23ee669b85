// What a run of the catalogue says to a person.

/**
 * @typedef {import('./hunt.mjs').Verdict} Verdict
 * @typedef {{ readonly seeds: number, readonly failures: readonly string[] }} Baseline
 */

/**
 * @param {readonly Verdict[]} verdicts
 * @param {Baseline} baseline
 * @param {number | null} seedsMax Null: those that are listed.
 * @returns {string}
 */
export function tableOf(verdicts, baseline, seedsMax) {
  const rows = verdicts.map(({ id, store, killed, property, kind, seeds, wallMs, others, message }) => [
    killed ? 'killed' : 'SURVIVED',
    store === 'memory' ? id : `${id} (${store})`,
    killed ? `${property}: ${kind}` : message || '-',
    String(seeds),
    String(wallMs),
    Object.entries(others)
      .map(([what, count]) => `${what} ${count}`)
      .join(', '),
  ])
  const head = ['', 'mutant', 'killed by', 'seeds', 'ms', 'what else fired, in seeds']
  const widths = head.map((_, k) => Math.max(...[head, ...rows].map((row) => row[k]?.length ?? 0)))
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, k) => (k === 3 || k === 4 ? cell.padStart(widths[k] ?? 0) : cell.padEnd(widths[k] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  return [...lines, '', ...totalsOf(verdicts, baseline, seedsMax)].join('\n')
}

/**
 * @param {readonly Verdict[]} verdicts
 * @param {Baseline} baseline
 * @param {number | null} seedsMax
 */
function totalsOf(verdicts, { seeds, failures }, seedsMax) {
  const killed = verdicts.filter((verdict) => verdict.killed)
  const share = ((100 * killed.length) / verdicts.length).toFixed(1)
  const totals = [
    `${killed.length} of ${verdicts.length} killed within ${seedsMax ?? 'the listed'} seeds (${share} %), each by the property named, each replayed`,
    `median ${median(killed.map((verdict) => verdict.seeds))} seeds, ${median(killed.map(({ wallMs }) => wallMs))} ms from the first seed's start`,
    `unmutated: ${seeds - failures.length} of the same ${seeds} runs pass`,
  ]
  return [...totals, ...failures.map((failure) => `  ${failure}`)]
}

/** @param {number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}
