import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { InvalidArgument } from '../engine/errors.ts'

/** Reads option values; all throw `InvalidArgument`, which ends the command as a usage error. */

export function wholeNumber(option: string, min: number, max: number = Infinity): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    const range = max === Infinity ? `>= ${min}` : `from ${min} to ${max}`
    throw new InvalidArgument(`${option} takes a whole number ${range}, not ${JSON.stringify(text)}`)
  }
}

export function minutes(text: string): number {
  const value = /^[0-9]*\.?[0-9]+(e-?[0-9]+)?$/i.test(text) ? Number(text) : Number.NaN
  if (value > 0 && value <= 100_000) return value
  throw new InvalidArgument(`--minutes takes a number of minutes over 0, not ${JSON.stringify(text)}`)
}

export interface Shard {
  readonly index: number
  readonly of: number
}

/** `i/n`: the i-th of n parts, from 1. */
export function shard(text: string): Shard {
  const match = /^([0-9]{1,6})\/([0-9]{1,6})$/.exec(text)
  const [index, of] = [Number(match?.[1]), Number(match?.[2])]
  if (match && index >= 1 && index <= of) return { index, of }
  throw new InvalidArgument(`--shard takes i/n with 1 <= i <= n, not ${JSON.stringify(text)}`)
}

export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** The module at a path, as a URL that can be imported. */
export function moduleUrl(file: string): string {
  const absolute = path.resolve(file)
  if (!existsSync(absolute)) throw new InvalidArgument(`there is no file ${file}`)
  return pathToFileURL(absolute).href
}

/** Of an option that may be given more than once. */
export function repeated(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text]
}

/** Of options that say nothing beside others: better a word than a table that is not what was asked for. */
export function refuseOptions(given: object, options: readonly string[], beside: string): void {
  const said = options.filter((option) => option in given).map((option) => `--${option}`)
  if (said.length > 0) throw new InvalidArgument(`${said.join(', ')}: says nothing ${beside}; leave it out`)
}
