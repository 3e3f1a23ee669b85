/**
 * UUIDs of version 7 (RFC 9562): the time in ms, a counter within it, and chance. Later ids sort after earlier ones,
 * so an index of many millions of them grows at its end alone, instead of writing a page of it for each. The time is
 * for that order and nothing else: nothing is decided by it, and a clock that goes back only makes ids that sort in
 * between.
 */
export function createOrderedIds(wallMs: () => number, random: () => string): () => string {
  let atMs = -1
  let count = 0
  return () => {
    const nowMs = wallMs()
    count = nowMs === atMs ? count + 1 : 0
    atMs = nowMs
    const time = nowMs.toString(16).padStart(12, '0')
    // Past the counter's 12 bits the order within one ms is that of chance.
    const within = count <= 0xfff ? count.toString(16).padStart(3, '0') : 'fff'
    return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${within}-${random().slice(19)}`
  }
}
