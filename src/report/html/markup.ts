import { inert } from '../format.ts'

/** Markup that is known to be ours: only `html` makes it, and whatever it is given as text stays text. */
export interface Html {
  readonly markup: string
}

type Value = string | number | Html | readonly Html[]

/** Longer texts of others are cut: the whole of them is in the JSON. In characters. */
const textMax = 4_000

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const markup = values.reduce<string>(
    (before, value, k) => before + markupOf(value) + (parts[k + 1] ?? ''),
    parts[0] ?? '',
  )
  return { markup }
}

/** Markup of our own making that is no template: a style, a script, embedded data. */
export function raw(markup: string): Html {
  return { markup }
}

export const nothing: Html = { markup: '' }

function markupOf(value: Value): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return escaped(value)
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}

/** Inert in a page, between tags and in quoted attributes alike. */
function escaped(text: string): string {
  return clipped(text)
    .split('\n')
    .map(inert)
    .join('\n')
    .replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
}

export function clipped(text: string, charsMax: number = textMax): string {
  const over = text.length - charsMax
  return over <= 0 ? text : `${text.slice(0, charsMax)} ... (${over.toLocaleString('en-US')} characters more)`
}
