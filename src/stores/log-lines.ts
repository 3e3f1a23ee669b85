import { InvalidArgument } from '../engine/errors.ts'
import { type LogEntry, logBatchMax, logLineBytesMax } from '../engine/ports/logs.ts'

/** What every store asks of the lines of one append, before it looks at anything else. Throws `InvalidArgument`. */
export function requireLines(lines: readonly LogEntry[]): void {
  if (lines.length < 1 || lines.length > logBatchMax) {
    throw new InvalidArgument(`an append takes 1 to ${logBatchMax} lines, not ${lines.length}`)
  }
  let before = -1
  for (const { line, text } of lines) {
    if (!Number.isSafeInteger(line) || line <= before) {
      throw new InvalidArgument(`the lines of an append count upwards from 0: ${line} came after ${before}`)
    }
    before = line
    // Three bytes a unit is the most that UTF-8 takes.
    if (text.length * 3 > logLineBytesMax && Buffer.byteLength(text) > logLineBytesMax) {
      throw new InvalidArgument(
        `a line of a log is at most ${logLineBytesMax} bytes, not ${Buffer.byteLength(text)}`,
      )
    }
    if (!text.isWellFormed() || text.includes('\0')) {
      throw new InvalidArgument('a line of a log must be well-formed, and without NUL')
    }
  }
}
