import type { JobSpec } from '../jobs/record.ts'
import { lineageOf } from '../jobs/transitions.ts'
import { nameLengthMax } from '../jobs/text.ts'

/**
 * Under which id a dead letter is replayed: that of the first job with `~r1` behind it, then `~r2`, and so on. Whoever
 * asks gets the same, so that two who replay one dead letter mean one job. Where that is too long for an id, the end of
 * the first part gives way to `~` and 16 hexadecimal digits of it all.
 */
export function replayIdOf(spec: Pick<JobSpec, 'id' | 'lineage'>): string {
  const { root, replays } = lineageOf(spec)
  const end = `~r${replays}`
  if (root.length + end.length <= nameLengthMax) return root + end
  const short = `~${hashOf(root)}${end}`
  // What is cut in the middle of a character must still be storable.
  return root.slice(0, nameLengthMax - short.length).toWellFormed() + short
}

/** 64 bits in two lanes, each FNV-1a. Not for secrets: who finds two roots of one id gets a refusal. */
function hashOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x9dc5811c]
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit ^ (a >>> 15), 0x85ebca6b)
  }
  return [a, b].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('')
}
