// Schedules against one bundle: whether exploring all of them, to so many deviations, shows what a mutant breaks.
import { propertiesOf } from './catalogue.mjs'
import { requestOf } from './hunt.mjs'
import { Thread } from './thread.mjs'

/**
 * @typedef {import('./catalogue.mjs').Mutant} Mutant
 *
 * @typedef {{
 *   readonly topology: string,
 *   readonly deviations: number,
 *   readonly wallMs: number,
 * }} Shown
 * @typedef {{
 *   readonly asked: boolean,
 *   readonly shown: Shown | null,
 * }} Explored `asked`: it is about ordering and faults, and some topology judges what it breaks.
 */

/**
 * Promises about what a fault, or another order of messages, may not do. The others are about counts, rules of order
 * and what is told, which other work shows, not other schedules.
 */
const ofSchedules = new Set([
  'exactly-once-claim',
  'fencing',
  'single-terminal-state',
  'post-outage-grace',
  'one-start-through-outage',
  'lost-reply-costs-nothing',
  'margin-pays',
  'lease-certainty',
  'lease-lasts',
  'capacity',
  'cancel-observed',
  'shutdown-costs-nothing',
  'doubt-claims-nothing',
  'named-lease-exclusive',
])

/** How long it may take with so many deviations. */
const boundsMs = [10_000, 60_000, 60_000]

/**
 * @param {Mutant} mutant
 * @param {{ readonly code: string, readonly preload: string }} bundles
 * @param {number} most With at most so many deviations.
 * @returns {Promise<Explored>}
 */
export async function exploreMutant(mutant, { code, preload }, most) {
  const properties = propertiesOf(mutant)
  if (!properties.some((name) => ofSchedules.has(name))) return { asked: false, shown: null }
  const thread = new Thread(code, preload)
  await thread.ready()
  const startedMs = performance.now()
  try {
    for (let deviations = 0; deviations <= most; deviations++) {
      const level = { deviations, boundMs: boundsMs[deviations] ?? 60_000 }
      const ran = await thread.run({ ...requestOf('0x0', 'memory'), explore: { ...level, properties } })
      if (ran.kind === 'crashed' && ran.detail.includes('no topology judges'))
        return { asked: false, shown: null }
      if (ran.kind !== 'result' || ran.result.verdict !== 'violated') continue
      const { scenario: topology } = ran.result
      const wallMs = Math.round(performance.now() - startedMs)
      return { asked: true, shown: { topology, deviations, wallMs } }
    }
  } finally {
    await thread.close()
  }
  return { asked: true, shown: null }
}
