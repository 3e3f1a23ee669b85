import { HoldfastError } from '../engine/errors.ts'
import { finish, hashText } from './hash.ts'
import type { Seed } from './seed.ts'

/**
 * All chance of a world. A draw is a function of what it is for, `h(seed, stream, node, operation, ordinal)`,
 * not of how many came before: neither a new draw nor a fault that is gone moves another.
 */
export interface Chooser {
  /** A whole number in [0, bound). `who` and `what` name the draw; the ordinal counts equal names. */
  below(bound: number, stream: string, who: string, what: string, ordinal: number): number
  /** The draws so far, for a replay file; null unless they are kept. */
  readonly list: Draws | null
}

/** Pairs (name of the draw, drawn value). */
export type Draws = number[]

export function seededChooser(seed: Seed, keep: boolean): Chooser {
  const hi = Number(seed >> 32n) | 0
  const lo = Number(seed & 0xffffffffn) | 0
  const names = new Map<string, number>()
  const list: Draws | null = keep ? [] : null
  return {
    list,
    below: (bound, stream, who, what, ordinal) => {
      const key = keyOf(names, stream, who, what, ordinal)
      const x = finish(Math.imul(lo ^ key, 0x9e3779b1) ^ Math.imul(hi + 0x7f4a7c15, 0x85ebca6b))
      const y = finish(x ^ Math.imul(hi ^ key, 0xc2b2ae3d))
      // 53 bits, so that every bound up to 2^53 is drawn evenly enough to matter to nobody.
      const unit = ((x >>> 5) * 67108864 + (y >>> 6)) / 9007199254740992
      const drawn = Math.floor(unit * bound)
      list?.push(key, drawn)
      return drawn
    },
  }
}

/** A replay met another choice than its list has next. */
export class Diverged extends HoldfastError {
  readonly code = 'DIVERGED'
}

export interface ListHooks {
  /** Names the event at which the run left the list. */
  readonly eventNow: () => number
  /** Told of what is thrown. */
  readonly diverged: (error: Diverged) => void
}

/** Answers from a strict list; throws `Diverged` where the run makes another choice. */
export function listChooser(draws: Draws, { eventNow, diverged }: ListHooks): Chooser {
  const names = new Map<string, number>()
  let next = 0
  return {
    list: draws,
    below: (bound, stream, who, what, ordinal) => {
      const key = keyOf(names, stream, who, what, ordinal)
      const [listed, drawn] = [draws[next], draws[next + 1]]
      if (listed !== key || drawn === undefined || drawn >= bound) {
        const error = new Diverged(
          `diverged at event ${eventNow()}: choice ${next / 2 + 1} is ${stream} of ${who} for ${what} here, another in the file; ` +
            'the code, the scenario or the Node.js version is not that of the recording, or something outlives a run (state in a module)',
        )
        diverged(error)
        throw error
      }
      next += 2
      return drawn
    },
  }
}

function keyOf(
  names: Map<string, number>,
  stream: string,
  who: string,
  what: string,
  ordinal: number,
): number {
  let key = Math.imul(ordinal + 1, 0x9e3779b1)
  key = withName(names, key, stream)
  key = withName(names, key, who)
  key = withName(names, key, what)
  return key | 0
}

function withName(names: Map<string, number>, key: number, name: string): number {
  let hash = names.get(name)
  if (hash === undefined) names.set(name, (hash = hashText(name, 0x811c9dc5)))
  const mixed = Math.imul(key ^ hash, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
