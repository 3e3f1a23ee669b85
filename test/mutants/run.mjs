// Breaks the engine on purpose, one mutant at a time, and expects the simulation to say which promise broke.
// Exit codes: 0 all killed and the unmutated engine passes, 1 not so, 2 the run says nothing (usage, stale entry).
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.mjs'
import { Unusable, readCatalogue, root, sourcesOf } from './catalogue.mjs'
import { exploreMutant } from './explored.mjs'
import { hunt, requestOf, shownBy } from './hunt.mjs'
import { tableOf } from './table.mjs'
import { Thread } from './thread.mjs'

/**
 * @typedef {import('./catalogue.mjs').Mutant} Mutant
 * @typedef {import('./hunt.mjs').Verdict} Verdict
 */

const seedsMax = 300
const threads = 2
const entry = 'src/sim/threads/thread.ts'
const help = `usage: npm run mutants -- [--catalogue FILE] [--only id,id] [--quick] [--json] [--update-seeds]
  --catalogue FILE  default: test/mutants/catalogue.json
  --only id,id      these mutants alone
  --explore K       also all schedules, to so many deviations, of the topologies that judge what a mutant breaks
  --quick           only the seeds that are listed with each mutant, not the first ${seedsMax} before them
  --json            one object on stdout
  --update-seeds    writes the seed that killed each mutant into the catalogue`

function optionsOf() {
  try {
    return parseArgs({
      options: {
        catalogue: {
          type: 'string',
          default: fileURLToPath(new URL('./catalogue.json', import.meta.url)),
        },
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        explore: { type: 'string' },
        json: { type: 'boolean', default: false },
        'update-seeds': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new Unusable(`${error instanceof Error ? error.message : String(error)}\n${help}`)
  }
}

/**
 * @param {readonly Mutant[]} all
 * @param {string | undefined} only
 * @returns {readonly Mutant[]}
 */
function chosen(all, only) {
  const ids = only?.split(',') ?? all.map(({ id }) => id)
  const mutants = ids.map((id) => {
    const mutant = all.find((candidate) => candidate.id === id)
    if (!mutant) throw new Unusable(`there is no mutant ${JSON.stringify(id)} in the catalogue`)
    return mutant
  })
  if (mutants.length === 0) throw new Unusable('no mutant to run: an empty catalogue proves nothing')
  return mutants
}

/**
 * Seeds that are dealt to everyone, then those that are known to kill: the table tells which of them it took.
 * @param {Mutant} mutant
 * @param {boolean} quick
 * @returns {readonly string[]}
 */
function seedsFor({ id, seeds = [] }, quick) {
  if (!quick) return [...firstSeeds, ...seeds]
  if (seeds.length > 0) return seeds
  throw new Unusable(`mutant ${id} lists no seeds for --quick: run with --update-seeds first`)
}

const firstSeeds = Array.from({ length: seedsMax }, (_, k) => `0x${(k + 1).toString(16)}`)

/**
 * Does the work for all items, as many at a time as there are threads.
 * @template T, R
 * @param {readonly T[]} items
 * @param {(item: T) => Promise<R>} work
 * @returns {Promise<R[]>} In the order of the items.
 */
async function each(items, work) {
  /** @type {R[]} */
  const results = []
  let next = 0
  const lane = async () => {
    for (let k = next++; k < items.length; k = next++) results[k] = await work(/** @type {T} */ (items[k]))
  }
  await Promise.all(Array.from({ length: threads }, lane))
  return results
}

/**
 * The unmutated engine on the seeds that were dealt to mutants.
 * @param {readonly { readonly store: string, readonly seeds: readonly string[] }[]} used
 * @param {string} preload
 */
async function baselineOf(used, preload) {
  const code = await bundle(entry, 'cjs')
  const free = Array.from({ length: threads }, () => new Thread(code, preload))
  /** @type {string[]} */
  const failures = []
  const runs = used.flatMap(({ store, seeds }) => seeds.map((seed) => ({ store, seed })))
  await each(runs, async ({ store, seed }) => {
    const thread = /** @type {Thread} */ (free.pop())
    const ran = await thread.run(requestOf(seed, store))
    free.push(thread)
    const passes = ran.kind === 'result' && ran.result.verdict === 'pass'
    if (!passes) failures.push(`seed ${seed} on ${store}: ${[...shownBy(ran)].join(', ')}`)
  })
  await Promise.all(free.map((thread) => thread.close()))
  return { seeds: runs.length, failures }
}

/**
 * @param {string} file
 * @param {readonly Mutant[]} all
 * @param {readonly Verdict[]} verdicts
 */
function updateSeeds(file, all, verdicts) {
  const updated = all.map((mutant) => {
    const killers = verdicts.flatMap(({ id, seed }) => (id === mutant.id && seed !== null ? [seed] : []))
    return killers.length > 0 ? { ...mutant, seeds: [...new Set(killers)] } : mutant
  })
  writeFileSync(file, `${JSON.stringify(updated, null, 2)}\n`)
  const biome = path.join(root, 'node_modules/.bin/biome')
  spawnSync(biome, ['format', '--write', file], { cwd: root, stdio: 'ignore' })
}

/**
 * @param {string | undefined} text
 * @returns {number | null} Null: nothing is explored.
 */
function deviationsOf(text) {
  if (text === undefined) return null
  if (/^[0-2]$/.test(text)) return Number(text)
  throw new Unusable(`--explore takes 0, 1 or 2, not ${JSON.stringify(text)}\n${help}`)
}

async function main() {
  const { catalogue, only, quick, explore, json, 'update-seeds': updating } = optionsOf()
  const most = deviationsOf(explore)
  const all = readCatalogue(catalogue)
  const mutants = chosen(all, only).flatMap((mutant) => {
    const hunted = { mutant, sources: sourcesOf(mutant), seeds: seedsFor(mutant, quick) }
    return (mutant.stores ?? ['memory']).map((store) => ({ ...hunted, store }))
  })
  const preload = await bundle('src/sim/guard/preload.ts', 'esm')
  const bundled = await each(mutants, async ({ mutant, sources, seeds, store }) => {
    const code = await bundle(entry, 'cjs', sources).catch((error) => {
      throw new Unusable(`mutant ${mutant.id}: ${error instanceof Error ? error.message : String(error)}`)
    })
    return { mutant, code, seeds, store }
  })
  const verdicts = await each(bundled, async ({ mutant, code, seeds, store }) => {
    const hunted = await hunt(mutant, { code, preload }, seeds, store)
    const explores = most !== null && store === 'memory'
    const schedules = explores ? await exploreMutant(mutant, { code, preload }, most) : null
    const verdict = { ...hunted, schedules }
    if (process.stderr.isTTY) process.stderr.write(verdict.killed ? '.' : 'S')
    return verdict
  })
  const stores = [...new Set(bundled.map(({ store }) => store))]
  const used = stores.map((store) => {
    const dealt = verdicts.flatMap((verdict, k) =>
      verdict.store === store ? (bundled[k]?.seeds.slice(0, verdict.seeds) ?? []) : [],
    )
    return { store, seeds: [...new Set(dealt)] }
  })
  const baseline = await baselineOf(used, preload)
  if (updating) updateSeeds(catalogue, all, verdicts)
  const survivors = [...new Set(verdicts.filter(({ killed }) => !killed).map(({ id }) => id))]
  process.stdout.write(
    json
      ? `${JSON.stringify({ command: 'mutants', mutants: verdicts, survivors, baseline })}\n`
      : `${tableOf(verdicts, baseline, quick ? null : seedsMax)}\n`,
  )
  process.exitCode = survivors.length === 0 && baseline.failures.length === 0 ? 0 : 1
}

main().catch((error) => {
  process.stderr.write(`${error instanceof Unusable ? error.message : String(error?.stack ?? error)}\n`)
  process.exitCode = 2
})
