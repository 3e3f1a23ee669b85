import { logLineBytesMax } from '../ports/logs.ts'
import { isA, textOf } from '../jobs/text.ts'

/** What a handler says, as the text of one line: storable, and of at most `logLineBytesMax` bytes. Never throws. */
export function lineText(message: unknown, fields: unknown): string {
  // In either order: pino has the fields first.
  const swapped = typeof message !== 'string' && typeof fields === 'string'
  const [said, more] = swapped ? [fields, message] : [message, fields]
  const text = typeof said === 'string' ? said : valueText(said)
  return boundedText(more === undefined ? text : `${text} ${valueText(more)}`)
}

function valueText(value: unknown): string {
  if (isA(Error, value)) return errorText(value)
  if (typeof value !== 'object' || value === null) return textOf(value)
  try {
    return JSON.stringify(value, shownMember) ?? textOf(value)
  } catch (error) {
    return `(cannot be shown: ${textOf(error)})`
  }
}

/** What JSON has no word for, and what it would make nothing of. */
function shownMember(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`
  return isA(Error, value) ? textOf(value) : value
}

function errorText(error: Error): string {
  try {
    const { stack } = error as { readonly stack?: unknown }
    return typeof stack === 'string' && stack !== '' ? stack : textOf(error)
  } catch {
    return textOf(error)
  }
}

const cutMark = ' ... (truncated)'

/** Cut at a character, and marked as cut. */
function boundedText(value: string): string {
  // A unit is a byte at least: what lies beyond is cut in any case, and need not be looked at.
  const text = value
    .slice(0, logLineBytesMax + 1)
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
  if (text.length * 3 <= logLineBytesMax) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= logLineBytesMax) return text
  let end = logLineBytesMax - cutMark.length
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end) + cutMark
}
