import { type LogEntry, type LogLevel, logLineBytesMax, logLinesMax } from '../ports/logs.ts'

/**
 * The lines of one attempt that the store has not taken yet: numbered as they come, and no more than fit. What does not
 * fit is counted, and told in its place as a line of its own.
 */
export interface Pending {
  readonly size: number
  /** As many as one append is worth. */
  readonly isBatch: boolean
  /** `text` is asked for only where there is room. */
  add(level: LogLevel, text: () => string): void
  /** The first lines, as many as go together; they stay until they are taken. */
  batch(): readonly LogEntry[]
  /** The first `count` lines are gone. */
  taken(count: number): void
  /** Nothing comes any more: tells what was dropped last. */
  close(): void
}

const droppedWords = 'lines were dropped here: they came faster than the store could take them'

/** Whether a line says that others were dropped in its place. */
export function tellsOfDropped(text: string): boolean {
  return text.endsWith(`${droppedWords})`)
}

const batchMax = 100
const batchBytesMax = 65_536
/** As many as a log keeps. */
const pendingMax = logLinesMax
const pendingBytesMax = 1_048_576

export function createPending(): Pending {
  let lines: LogEntry[] = []
  let bytes = 0
  let next = 0
  let dropped = 0

  /** A line more than fits, at most. */
  function put(level: LogLevel, text: string): void {
    lines.push({ line: next++, level, text })
    bytes += Buffer.byteLength(text)
  }

  function tellDropped(): void {
    if (dropped === 0) return
    put('warn', `(${dropped} ${droppedWords})`)
    dropped = 0
  }

  return {
    get size() {
      return lines.length
    },
    get isBatch() {
      return lines.length >= batchMax || bytes >= batchBytesMax
    },
    add: (level, text) => {
      if (lines.length >= pendingMax || bytes >= pendingBytesMax - logLineBytesMax) {
        dropped += 1
        return
      }
      tellDropped()
      put(level, text())
    },
    batch: () => {
      let length = 0
      let count = 0
      while (count < Math.min(lines.length, batchMax)) {
        length += Buffer.byteLength((lines[count] as LogEntry).text)
        if (count > 0 && length > batchBytesMax) break
        count += 1
      }
      return lines.slice(0, count)
    },
    taken: (count) => {
      for (const { text } of lines.slice(0, count)) bytes -= Buffer.byteLength(text)
      lines = lines.slice(count)
    },
    close: tellDropped,
  }
}
