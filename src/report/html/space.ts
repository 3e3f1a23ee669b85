import type { Level } from '../../sim/explore/spread.ts'
import type { Judged } from '../../sim/judge.ts'
import type { ExploredTopology } from '../explore/report.ts'
import { count, plural } from '../format.ts'
import { type Html, html, nothing } from './markup.ts'

/** In the units of the drawing: it is as wide as the page, and as high as it says. */
const [width, rowHeight, baseline, upMax, downMax] = [1_000, 64, 44, 38, 14] as const
const ticks = 4

/** Where in time the schedules of each level leave those of the one above, and where they come to known states. */
export function spaceOf({ topology, result, failure }: ExploredTopology): Html {
  const { levels } = result
  const { horizonMs } = topology
  const height = levels.length * rowHeight
  const says = levels.map(({ deviations, schedules, pruned }) => {
    return `${plural(deviations, 'deviation')}: ${plural(schedules, 'schedule')}, ${count(pruned)} pruned`
  })
  return html`<div class="space"><div class="levels">${levels.map(labelOf)}</div>
<svg viewBox="0 0 ${width} ${height}" height="${height}" preserveAspectRatio="none" role="img" aria-label="where in time schedules leave the default; ${says.join('; ')}">${levels.map((level, k) => levelOf(level, k, horizonMs))}${failure?.result ? pathOf(failure.result, horizonMs) : nothing}</svg>
<div></div><div class="ticks" aria-hidden="true">${Array.from({ length: ticks + 1 }, (_, k) => html`<span>${tick((horizonMs * k) / ticks)}</span>`)}</div></div>
<p class="legend"><span><i class="left"></i>leave the schedule with a deviation less at that time, and were walked to their end</span><span><i class="pruned"></i>came to a state that was known; below the line, when</span>${levels.some(({ schedules, runs }) => runs < schedules) ? html`<span><i class="unwalked"></i>not walked</span>` : nothing}${failure ? html`<span><i class="path"></i>the counterexample</span>` : nothing}</p>`
}

function labelOf({ deviations, schedules, pruned }: Level): Html {
  if (deviations === 0) return html`<div>0 deviations<small>the default</small></div>`
  return html`<div>${plural(deviations, 'deviation')}<small>${plural(schedules, 'schedule')}</small><small>${count(pruned)} pruned</small></div>`
}

function tick(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

function levelOf({ spread }: Level, k: number, horizonMs: number): Html {
  const { left, pruned, joined, unwalked, binMs } = spread
  const zero = k * rowHeight + baseline
  if (k === 0) return html`<path class="default" d="M0 ${zero}H${width}"></path>`
  const up = upMax / Math.max(1, ...left)
  const down = downMax / Math.max(1, ...joined)
  const bar = (name: string, bin: number, from: number, high: number): Html => {
    const x = (width * bin * binMs) / horizonMs
    const wide = Math.min(width - x, (width * binMs) / horizonMs) * 0.86
    return high > 0
      ? html`<rect class="${name}" x="${x.toFixed(1)}" y="${from.toFixed(1)}" width="${wide.toFixed(1)}" height="${high.toFixed(1)}"></rect>`
      : nothing
  }
  const bars = left.map((all, bin) => {
    const [known, waiting, met] = [pruned[bin] ?? 0, unwalked[bin] ?? 0, joined[bin] ?? 0]
    if (all + met === 0) return nothing
    const walked = all - known - waiting
    const title = `from +${tick(bin * binMs)}: ${count(all)} leave, of them ${count(known)} pruned, ${count(waiting)} not walked; ${count(met)} come to a known state`
    return html`<g><title>${title}</title>${bar('left', bin, zero - walked * up, walked * up)}${bar('pruned', bin, zero - (walked + known) * up, known * up)}${bar('unwalked', bin, zero - all * up, waiting * up)}${bar('joined', bin, zero + 1, met * down)}</g>`
  })
  return html`<path class="zero" d="M0 ${zero}H${width}"></path>${bars}`
}

/** Along each level to where it leaves it, and on the last to where it violates something. */
function pathOf({ taken = [], violations }: Judged, horizonMs: number): Html {
  const [violation] = violations
  if (!violation) return nothing
  const x = (ms: number): string => Math.min(width, (width * ms) / horizonMs).toFixed(1)
  const y = (k: number): number => k * rowHeight + baseline
  const steps = taken.map(({ atMs }, k) => `H${x(atMs)}V${y(k + 1)}`)
  const [end, last] = [x(violation.atMs), taken.length * rowHeight]
  return html`<path class="path" d="M0 ${y(0)}${steps.join('')}H${end}"></path><path class="violation" d="M${end} ${last + 4}V${last + rowHeight - 4}"></path>`
}
