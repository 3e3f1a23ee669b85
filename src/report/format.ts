/** Numbers and times as a person reads them. */

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 100_000 ? 1 : 0)} s`
}

export function longTime(ms: number): string {
  const hours = ms / 3_600_000
  if (hours >= 48) return `${(hours / 24).toFixed(1)} days`
  if (hours >= 1) return `${hours.toFixed(1)} h`
  return ms >= 60_000 ? `${(ms / 60_000).toFixed(1)} min` : seconds(ms)
}

/** Inert in a terminal: control characters, marks that reverse text, and halves of a character are spelled out. */
export function inert(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (mark) =>
    mark === '\n' ? '\\n' : `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}

/** The same value in JSON whose text is inert in a terminal and in a page. */
export function inertJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\p{Cf}\u2028\u2029<]/gu, (mark) =>
    [...Array(mark.length).keys()]
      .map((k) => `\\u${mark.charCodeAt(k).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** As one word of a shell. */
export function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${inert(text).replaceAll("'", String.raw`'\''`)}'`
}

export interface Column {
  readonly title: string
  readonly right?: boolean
}

/** Rows in columns as wide as their widest cell. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = '  ',
): string[] {
  const widths = columns.map(({ title }, k) =>
    Math.max(title.length, ...rows.map((row) => (row[k] ?? '').length)),
  )
  const line = (cells: readonly string[]): string =>
    indent +
    cells
      .map((cell, k) => (columns[k]?.right ? cell.padStart(widths[k] ?? 0) : cell.padEnd(widths[k] ?? 0)))
      .join('  ')
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...rows.map(line)]
}
