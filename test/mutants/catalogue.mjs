// The catalogue: what it must look like, and the sources that an entry stands for. Nothing is run here.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ readonly file: string, readonly find: string, readonly replace: string }} Edit
 *
 * A bug that someone made: edits of the source, and the property (one of them, if it is a list) that must find
 * it, on each of the `stores` (default: memory). `seeds` are known to kill it.
 * @typedef {{
 *   readonly id: string,
 *   readonly origin: string,
 *   readonly says: string,
 *   readonly property: string | readonly string[],
 *   readonly stores?: readonly string[],
 *   readonly edits: readonly Edit[],
 *   readonly seeds?: readonly string[],
 * }} Mutant
 */

/** The run cannot say anything: a stale or malformed entry, an unknown id, nothing to run. */
export class Unusable extends Error {}

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Only what is judged may be broken, never the bench that judges it. */
const judged = /^src\/(engine|stores)\/[a-z0-9/-]+\.ts$/

/**
 * @param {string} file
 * @returns {Mutant[]}
 */
export function readCatalogue(file) {
  /** @type {unknown} */
  let value
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Unusable(`the catalogue ${file} cannot be read: ${String(error)}`)
  }
  if (!Array.isArray(value)) throw new Unusable(`the catalogue ${file} must be a list of mutants`)
  const ids = new Set()
  for (const [k, entry] of value.entries()) {
    const fault = faultOf(entry)
    if (fault) throw new Unusable(`the catalogue ${file}, entry ${k + 1} (${String(entry?.id)}): ${fault}`)
    if (ids.has(entry.id)) throw new Unusable(`the catalogue ${file} has two entries named ${entry.id}`)
    ids.add(entry.id)
  }
  return value
}

/**
 * @param {Partial<Mutant> | null} entry
 * @returns {string | null}
 */
function faultOf(entry) {
  if (typeof entry?.id !== 'string' || !/^[a-z0-9-]+$/.test(entry.id)) return 'id must be like-this'
  if (typeof entry.origin !== 'string' || typeof entry.says !== 'string') return 'it needs an origin and says'
  if (propertiesOf(entry).length === 0) return 'it names no property'
  if (!Array.isArray(entry.edits) || entry.edits.length === 0) return 'it has no edits'
  for (const { file, find, replace } of entry.edits) {
    if (typeof file !== 'string' || !judged.test(file))
      return `${file} is not a source of the engine or a store`
    if (typeof find !== 'string' || typeof replace !== 'string') return 'an edit needs find and replace'
    if (find === replace) return 'an edit changes nothing'
  }
  const { seeds = [], stores = ['memory'] } = entry
  if (!Array.isArray(stores) || stores.length === 0) return 'stores are a list of names'
  if (!Array.isArray(seeds) || !seeds.every((seed) => /^0x[0-9a-f]{1,16}(?:@[a-z-]+)?$/.test(seed)))
    return 'seeds are like 0x1f, or 0x1f@standard'
  return null
}

/**
 * @param {Partial<Mutant>} mutant
 * @returns {readonly string[]}
 */
export function propertiesOf({ property = [] }) {
  return typeof property === 'string' ? [property] : property
}

/**
 * The sources that this mutant changes, by absolute path. Throws `Unusable` if an edit is stale.
 * @param {Mutant} mutant
 * @returns {Map<string, string>}
 */
export function sourcesOf({ id, edits }) {
  /** @type {Map<string, string>} */
  const sources = new Map()
  for (const { file, find, replace } of edits) {
    const at = path.join(root, file)
    const text = sources.get(at) ?? textOf(at)
    const [before, after, ...more] = text.split(find)
    if (before === undefined || after === undefined || more.length > 0) {
      const times = text.split(find).length - 1
      throw new Unusable(
        `mutant ${id} is stale: its text must be in ${file} exactly once, and is there ${times} times:\n${find}`,
      )
    }
    sources.set(at, before + replace + after)
  }
  return sources
}

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
