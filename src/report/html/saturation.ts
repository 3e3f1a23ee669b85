import { count } from '../format.ts'
import type { Report } from '../report.ts'
import { type Html, html, nothing } from './markup.ts'

const [width, height, pad] = [640, 96, 6] as const

/** How many behaviours each hundred seeds met first: a line that has come down says that the campaign is near its end. */
export function saturationSection({ summary: { coverage } }: Report): Html {
  const { behaviours, newPerHundred: all } = coverage
  if (behaviours === 0) return nothing
  const shown = all.slice(0, 40).map(count).join(', ')
  const last = all.at(-1) ?? 0
  return html`<section id="saturation"><h2>Saturation</h2>
<p>${count(behaviours)} behaviours (a fault family, and what came of it) were met. New in the last ${all.length > 1 ? 'hundred' : 'seeds'}: ${count(last)}.</p>
${all.length > 1 ? chart(all) : html`<p class="quiet">It takes more than a hundred seeds to see whether more of them would bring anything new.</p>`}
<p class="quiet">New in each hundred seeds: ${shown}${all.length > 40 ? ', ...' : ''}</p></section>`
}

function chart(all: readonly number[]): Html {
  const most = Math.max(1, ...all)
  const points = all.map((value, k) => {
    const x = pad + ((width - 2 * pad) * k) / (all.length - 1)
    const y = height - pad - ((height - 2 * pad) * value) / most
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  return html`<svg class="line" viewBox="0 0 ${width} ${height}" role="img" aria-label="new behaviours in each hundred seeds: from ${all[0] ?? 0} to ${all.at(-1) ?? 0}">
<path d="M${pad} ${height - pad}H${width - pad}"></path><polyline points="${points.join(' ')}"></polyline></svg>`
}
