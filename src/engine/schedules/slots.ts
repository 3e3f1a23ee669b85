/** The instants at which a schedule fires, in ms. */
export interface Slots {
  /** The first one after an instant; null: there is none. */
  readonly next: (afterMs: number) => number | null
}

/** `anchorMs` is the first of them. */
export function intervalSlots(everyMs: number, anchorMs: number): Slots {
  return {
    next: (afterMs) =>
      afterMs < anchorMs ? anchorMs : anchorMs + (Math.floor((afterMs - anchorMs) / everyMs) + 1) * everyMs,
  }
}

/**
 * The last `count` of the slots up to an instant, the earliest first; `first` is the earliest that counts, and not
 * after that instant. Its cost does not grow with the slots that lie between: it looks back in ever longer steps, and
 * halves what is left.
 */
export function lastSlots(slots: Slots, firstMs: number, untilMs: number, count: number): number[] {
  const last: number[] = []
  let endMs = untilMs
  while (last.length < count && endMs >= firstMs) {
    const slotMs = lastSlot(slots, firstMs, endMs)
    last.push(slotMs)
    endMs = slotMs - 1
  }
  return last.toReversed()
}

const shortestStepMs = 1_000

function lastSlot(slots: Slots, firstMs: number, untilMs: number): number {
  const next = (afterMs: number): number | null => {
    const slotMs = slots.next(afterMs)
    return slotMs !== null && slotMs <= untilMs ? slotMs : null
  }
  let foundMs = firstMs
  /** No slot lies after it. */
  let noneMs = untilMs
  for (let stepMs = shortestStepMs; untilMs - stepMs > firstMs; stepMs *= 2) {
    const slotMs = next(untilMs - stepMs)
    if (slotMs !== null) {
      foundMs = slotMs
      break
    }
    noneMs = untilMs - stepMs
  }
  for (;;) {
    const laterMs = next(foundMs)
    if (laterMs === null) return foundMs
    foundMs = laterMs
    const middleMs = Math.floor((foundMs + noneMs) / 2)
    const slotMs = next(middleMs)
    if (slotMs === null) noneMs = Math.max(foundMs, middleMs)
    else foundMs = slotMs
  }
}
