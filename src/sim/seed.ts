import { InvalidArgument } from '../engine/errors.ts'

/** A seed is a whole number from 0 to 2^64 - 1, taken exactly. */
export type Seed = bigint

export const seedMax: Seed = 2n ** 64n - 1n

/** Decimal or 0x hexadecimal. Throws `InvalidArgument`. */
export function parseSeed(text: string): Seed {
  if (!/^(0x[0-9a-f]{1,16}|[0-9]{1,20})$/i.test(text)) {
    throw new InvalidArgument(
      `a seed is a whole number, decimal or 0x hexadecimal, not ${JSON.stringify(text)}`,
    )
  }
  const seed = BigInt(text)
  if (seed > seedMax) throw new InvalidArgument(`seed ${text} is over the largest, ${seedMax} (2^64 - 1)`)
  return seed
}

export function formatSeed(seed: Seed): string {
  return `0x${seed.toString(16)}`
}

/** The seeds `first`, `first + 1`, ... wrapping at 2^64. */
export function seedAt(first: Seed, offset: number | bigint): Seed {
  return BigInt.asUintN(64, first + BigInt(offset))
}
