// Seeds against one bundle: until the named property is violated, and that failure replayed; or all of them.
import { propertiesOf } from './catalogue.mjs'
import { Thread } from './thread.mjs'

/**
 * @typedef {import('./catalogue.mjs').Mutant} Mutant
 * @typedef {import('./thread.mjs').Ran} Ran
 * @typedef {import('./thread.mjs').RunRequest} RunRequest
 * @typedef {import('./thread.mjs').RunResult} RunResult
 * @typedef {RunResult['violations'][number]} Violation
 *
 * @typedef {{
 *   readonly id: string,
 *   readonly store: string,
 *   readonly killed: boolean,
 *   readonly property: string | null,
 *   readonly kind: string | null,
 *   readonly seed: string | null,
 *   readonly seeds: number,
 *   readonly wallMs: number,
 *   readonly message: string,
 *   readonly others: Readonly<Record<string, number>>,
 *   readonly schedules?: import('./explored.mjs').Explored | null,
 * }} Verdict `seeds`: how many were dealt. `others`: in how many of them something else showed.
 */

/** Compares two runs, so that its replay needs the seed and the plan, not the choices of one of them. */
const databaseTimeOnly = 'database-time-only'
/** A mutant that only hangs or crashes is not worth the time of three hundred seeds. */
const brokenMax = 8

/**
 * @param {string} dealt A seed, or one of a scenario, as the catalogue lists those that kill: `0x1f@standard`. It
 *   stays the same run when scenarios are added.
 * @param {string} store
 * @returns {RunRequest}
 */
export function requestOf(dealt, store) {
  const [seed = dealt, scenario = null] = dealt.split('@')
  return {
    seed,
    scenario,
    store,
    families: null,
    verify: false,
    story: false,
    plan: null,
    draws: null,
  }
}

/**
 * @param {Mutant} mutant
 * @param {{ readonly code: string, readonly preload: string }} bundles
 * @param {readonly string[]} seeds
 * @param {string} store
 * @returns {Promise<Verdict>}
 */
export async function hunt(mutant, { code, preload }, seeds, store) {
  const named = propertiesOf(mutant)
  const thread = new Thread(code, preload)
  await thread.ready()
  /** @type {Record<string, number>} */
  const others = {}
  const startedMs = performance.now()
  const survived = { id: mutant.id, store, killed: false, property: null, kind: null, seed: null }
  let dealt = 0
  let broken = 0
  try {
    for (const seed of seeds) {
      dealt += 1
      const ran = await thread.run(requestOf(seed, store))
      for (const what of shownBy(ran)) if (!named.includes(what)) others[what] = (others[what] ?? 0) + 1
      if (ran.kind !== 'result' && ++broken >= brokenMax) break
      const violation = ran.kind === 'result' ? violationOf(ran.result, named) : null
      if (ran.kind !== 'result' || !violation) continue
      const wallMs = Math.round(performance.now() - startedMs)
      const { property, kind, message } = violation
      const killed = {
        id: mutant.id,
        store,
        killed: true,
        property,
        kind,
        seed: `${ran.result.seed}@${ran.result.scenario}`,
        seeds: dealt,
        wallMs,
        message,
        others,
      }
      const other = await differenceOnReplay(thread, ran.result, violation, store)
      return other === null ? killed : { ...killed, killed: false, message: other }
    }
  } finally {
    await thread.close()
  }
  const message = broken >= brokenMax ? `given up: ${broken} seeds hung or crashed` : ''
  return { ...survived, seeds: dealt, wallMs: Math.round(performance.now() - startedMs), message, others }
}

/**
 * @param {Ran} ran
 * @returns {Set<string>}
 */
export function shownBy(ran) {
  if (ran.kind !== 'result') return new Set([ran.kind])
  const { verdict, violations } = ran.result
  const shown = new Set(violations.map(({ property }) => property))
  return verdict === 'pass' || verdict === 'violated' ? shown : shown.add(verdict)
}

/**
 * @param {RunResult} result
 * @param {readonly string[]} named
 * @returns {Violation | null}
 */
function violationOf({ verdict, violations }, named) {
  if (verdict !== 'violated') return null
  return violations.find(({ property }) => named.includes(property)) ?? null
}

/**
 * What another failure a replay of the recorded plan and choices shows; null if it is the same one.
 * @param {Thread} thread
 * @param {RunResult} result
 * @param {Violation} violation
 * @param {string} store
 * @returns {Promise<string | null>}
 */
async function differenceOnReplay(thread, result, violation, store) {
  const { seed, scenario, plan, draws } = result
  const strict = violation.property === databaseTimeOnly ? null : draws
  const ran = await thread.run({ ...requestOf(seed, store), scenario, plan, draws: strict })
  if (ran.kind !== 'result') return `the replay of seed ${seed} ${ran.kind}`
  const again = violationOf(ran.result, [violation.property])
  const same =
    again !== null &&
    again.kind === violation.kind &&
    again.event === violation.event &&
    again.subject === violation.subject &&
    ran.result.traceHash === result.traceHash
  if (same) return null
  const what = again ? `${again.kind} at event ${again.event}` : (ran.result.detail ?? ran.result.verdict)
  return `the replay of seed ${seed} shows ${what}, not ${violation.kind} at event ${violation.event}`
}
