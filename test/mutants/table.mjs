// What a run of the catalogue says to a person.

/**
 * @typedef {import('./hunt.mjs').Verdict} Verdict
 * @typedef {{ readonly seeds: number, readonly failures: readonly string[] }} Baseline
 */

/**
 * @param {readonly Verdict[]} verdicts
 * @param {Baseline} baseline
 * @param {number | null} seedsMax How many everyone was dealt. Null: only those listed with each.
 * @returns {string}
 */
export function tableOf(verdicts, baseline, seedsMax) {
  const rows = verdicts.map(
    ({ id, store, killed, property, kind, seeds, wallMs, others, message, schedules }) => [
      killed ? 'killed' : 'SURVIVED',
      store === 'memory' ? id : `${id} (${store})`,
      killed ? `${property}: ${kind}` : message || '-',
      String(seeds),
      String(wallMs),
      schedulesText(schedules),
      Object.entries(others)
        .map(([what, count]) => `${what} ${count}`)
        .join(', '),
    ],
  )
  const head = [
    '',
    'mutant',
    'killed by',
    'seeds',
    'ms',
    'by schedules, at deviations',
    'what else fired, in seeds',
  ]
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
  const totals = [
    `${killed.length} of ${verdicts.length} killed (${shareOf(killed, verdicts)} %), each by the property named, each replayed`,
    ...(seedsMax === null ? [] : dealtTotals(verdicts, killed, seedsMax)),
    `median ${median(killed.map((verdict) => verdict.seeds))} seeds, ${median(killed.map(({ wallMs }) => wallMs))} ms from the first seed's start`,
    `unmutated: ${seeds - failures.length} of the same ${seeds} runs pass`,
  ]
  return [...totals, ...exploredTotals(verdicts), ...failures.map((failure) => `  ${failure}`)]
}

/**
 * @param {readonly Verdict[]} verdicts
 * @param {readonly Verdict[]} killed
 * @param {number} seedsMax
 */
function dealtTotals(verdicts, killed, seedsMax) {
  const early = killed.filter(({ seeds }) => seeds <= seedsMax)
  const late = killed.filter(({ seeds }) => seeds > seedsMax).map(({ id }) => id)
  return [
    `${early.length} of them within the first ${seedsMax} seeds (${shareOf(early, verdicts)} %)`,
    ...(late.length > 0 ? [`at the seeds listed with them alone: ${late.join(', ')}`] : []),
  ]
}

/** @param {Verdict['schedules']} schedules */
function schedulesText(schedules) {
  if (!schedules) return ''
  if (!schedules.asked) return 'n/a'
  return schedules.shown ? `${schedules.shown.topology} ${schedules.shown.deviations}` : '-'
}

/** @param {readonly Verdict[]} verdicts */
function exploredTotals(verdicts) {
  const asked = verdicts.filter(({ schedules }) => schedules?.asked)
  if (asked.length === 0) return []
  const shown = asked.flatMap(({ schedules }) => schedules?.shown ?? [])
  const at = [0, 1, 2].map(
    (many) => `${shown.filter(({ deviations }) => deviations === many).length} at ${many}`,
  )
  return [
    `by exploring schedules: ${shown.length} of the ${asked.length} about ordering and faults that a topology judges (${((100 * shown.length) / asked.length).toFixed(1)} %); deviations: ${at.join(', ')}`,
  ]
}

/**
 * @param {readonly Verdict[]} part
 * @param {readonly Verdict[]} all
 */
function shareOf(part, all) {
  return ((100 * part.length) / all.length).toFixed(1)
}

/** @param {number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}
