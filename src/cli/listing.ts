import { type Column, inert, table } from '../report/format.ts'

/** Tables of what is in a production database, as wide as a terminal. */

export interface ListColumn extends Column {
  /** Its cells may be cut where the table is too wide. Others are whole: what a next command needs is to be copied. */
  readonly cut?: boolean
}

const widthMax = 100
const gap = 2
/** A longer one makes its own line too wide, and not those of the others. */
const wholeWidthMax = 40
const cutWidthMin = 8
const mark = '...'

/** The cells are made inert. The column of what is never cut comes last. */
export function listing(columns: readonly ListColumn[], rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(inert))
  const widths = widthsOf(columns, cells)
  const fitted = cells.map((row) =>
    row.map((cell, k) => (columns[k]?.cut ? shortened(cell, widths[k] ?? 0) : cell)),
  )
  return table(columns, fitted, '')
}

function widthsOf(columns: readonly ListColumn[], cells: readonly (readonly string[])[]): number[] {
  const widths = columns.map(({ title, cut }, k) => {
    const widest = Math.max(title.length, ...cells.map((row) => row[k]?.length ?? 0))
    return cut ? widest : Math.min(widest, wholeWidthMax)
  })
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - widthMax
  for (; excess > 0; excess -= 1) {
    const widest = widestCut(columns, widths)
    if (widest === null) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function widestCut(columns: readonly ListColumn[], widths: readonly number[]): number | null {
  let widest: number | null = null
  for (const [k, { cut, title }] of columns.entries()) {
    const width = widths[k] ?? 0
    if (!cut || width <= Math.max(cutWidthMin, title.length)) continue
    if (widest === null || width > (widths[widest] ?? 0)) widest = k
  }
  return widest
}

/** No half of a character is left. */
function shortened(text: string, width: number): string {
  if (text.length <= width) return text
  return `${text.slice(0, width - mark.length).replace(/[\uD800-\uDBFF]$/, '')}${mark}`
}

/** A word and what it says, a line each; null is left out. */
export function facts(pairs: readonly (readonly [string, string | null])[]): string[] {
  const width = Math.max(...pairs.map(([name, text]) => (text === null ? 0 : name.length)))
  return pairs.flatMap(([name, text]) =>
    text === null ? [] : [`${name.padEnd(width)}  ${bounded(inert(text))}`],
  )
}

const textMax = 2_000

/** Of a payload as much as somebody reads; `--json` has all of it. */
export function bounded(text: string): string {
  if (text.length <= textMax) return text
  return `${shortened(text, textMax)} (${text.length.toLocaleString('en-US')} characters; all of it: --json)`
}
