// Medians and lines: what each measurement prints.

/** @param {readonly number[]} numbers @param {number} share */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** @param {readonly number[]} numbers */
export const median = (numbers) => quantile(numbers, 0.5)

/** @param {number} count @param {() => Promise<unknown>} work */
export async function rate(count, work) {
  const startedMs = performance.now()
  await work()
  return (count / (performance.now() - startedMs)) * 1000
}

/**
 * Runs all contestants in turn, `rounds` times, so that a busy minute of the machine is shared by all.
 * @template {string} Name
 * @param {number} rounds
 * @param {Readonly<Record<Name, () => Promise<number>>>} contestants
 */
export async function inTurns(rounds, contestants) {
  const names = /** @type {Name[]} */ (Object.keys(contestants))
  const runs = /** @type {Record<Name, number[]>} */ ({})
  for (let n = 0; n < rounds; n++) {
    for (const name of names) (runs[name] ??= []).push(await contestants[name]())
  }
  return runs
}

/**
 * One line a contestant, each with its ratio to the first: the median of the ratios of each round.
 * @param {string} what
 * @param {string} unit
 * @param {Readonly<Record<string, readonly number[]>>} runs
 */
export function print(what, unit, runs) {
  const [first] = Object.values(runs)
  for (const [name, numbers] of Object.entries(runs)) {
    const ratio = median(numbers.map((number, n) => number / (first?.[n] ?? Number.NaN)))
    const shown = figure(median(numbers)).padStart(10)
    const range = `(${figure(Math.min(...numbers))} - ${figure(Math.max(...numbers))})`
    console.log(
      `${what.padEnd(24)} ${name.padEnd(40)} ${shown} ${unit} ${range.padEnd(22)} ratio ${ratio.toFixed(2)}`,
    )
  }
}

/** @param {number} number */
function figure(number) {
  return number >= 100 ? Math.round(number).toLocaleString('en-US') : number.toFixed(2)
}
