import type { Judged } from '../../sim/judge.ts'
import type { Violation } from '../../sim/recorder.ts'
import type { Failure } from '../../sim/tally.ts'
import { type CommandContext, replayCommand } from '../command.ts'
import { deviationsOf, runWords } from '../explore/deviation.ts'
import { faultWords } from '../fault.ts'
import { count, inertJson, plural, seconds } from '../format.ts'
import { byKind } from '../kinds.ts'
import { timeless } from '../line.ts'
import type { Report } from '../report.ts'
import { storyOf } from '../story.ts'
import { tagOf } from '../text.ts'
import { toldOf } from './events.ts'
import { type Html, html, nothing, raw } from './markup.ts'

/** All events of all failures together, in bytes of JSON: a page that is larger is slow to open. */
export const bytesMax = 3_000_000

export function failuresSection(report: Report): Html {
  const kinds = byKind(report.summary.failures)
  if (kinds.length === 0) return nothing
  const share = bytesMax / kinds.length
  return html`<section id="failures"><h2>${plural(kinds.length, 'kind')} of failure</h2>
${kinds.map((kind, k) => failureOf(kind, report, { open: k === 0, bytesMax: share }))}</section>`
}

export interface Shown {
  /** Unfolded from the start. */
  readonly open: boolean
  /** Of its events, as JSON. */
  readonly bytesMax: number
}

/** One failure, and which others are like it. */
export function failureOf(
  [failure, ...others]: readonly [Failure, ...Failure[]],
  context: CommandContext,
  { open, bytesMax: share }: Shown,
): Html {
  const { property, scenario, message, result } = failure
  const first = result?.violations[0]
  return html`<details class="failure"${open ? raw(' open') : nothing}><summary><b class="tag">${tagOf(failure)}</b> <span class="what">${property}</span> <span class="quiet">${runWords(failure)}, ${result?.deviations ? 'topology' : 'scenario'} ${scenario ?? 'chosen by the seed'}${first ? `, at +${(first.atMs / 1000).toFixed(3)} s` : ''}</span></summary>
<p class="message">${message}</p>
<p class="command"><code>${replayCommand(failure, context)}</code></p>
${result ? faultsOf(result) : nothing}
${result && first ? storiesOf(result, first) : nothing}
${result?.story && first ? explorer(result, first, share) : nothing}
${alike(others, context)}</details>`
}

function faultsOf(result: Judged): Html {
  if (result.deviations) return scheduleOf(result)
  const { plan, steps, without, shrunk } = result
  if (!shrunk) {
    const struck = Object.values(result.strikes).reduce((sum, times) => sum + times, 0)
    return html`<p>${plural(plan.length, 'fault')} drawn, struck ${count(struck)} times; this failure was not shrunk.</p>`
  }
  const { faults, steps: of, runs, wallMs, minimal, also } = shrunk
  return html`<h3>What it takes</h3>
<p><strong>${count(plan.length)}</strong> of ${plural(faults, 'fault')}, <strong>${count(steps - without.length)}</strong> of ${plural(of, 'job')} <span class="quiet">${plural(runs, 're-run')}, ${seconds(wallMs)}${minimal ? '' : '; the time was over, so it may take less'}</span></p>
<ul class="faults">${plan.map((fault) => html`<li>${faultWords(fault)}</li>`)}</ul>
${also.length > 0 ? html`<p class="quiet">Also seen while shrinking, not followed: ${also.join(', ')}</p>` : nothing}`
}

function scheduleOf(result: Judged): Html {
  const words = deviationsOf(result)
  if (words.length === 0) return html`<p>The default schedule itself: it takes no deviation.</p>`
  return html`<h3>What it takes</h3>
<p><strong>${count(words.length)}</strong> ${words.length === 1 ? 'deviation' : 'deviations'} from the default schedule${result.verdict === 'violated' ? '; no schedule with fewer of them violates anything' : ''}.</p>
<ol class="faults">${words.map((line) => html`<li>${line}</li>`)}</ol>`
}

/** The failing run, and beside it the nearest that passes: what one has and the other lacks stands out. */
function storiesOf(result: Judged, violation: Violation): Html {
  const failing = storyOf(result, violation)
  const passing = result.shrunk?.passing ?? result.passing
  if (!passing) return html`<h3>What happened to ${violation.subject}</h3>${storyList(failing, [], true)}`
  const other = storyOf({ ...result, story: passing.story }, violation)
  return html`<div class="pair"><div><h3>What happened to ${violation.subject}</h3>${storyList(failing, other, true)}</div>
<div><h3>The nearest run that passes <small>without ${deviationsOf(result).at(-1) ?? passing.lacks}</small></h3>${other.length > 0 ? storyList(other, failing, false) : html`<p class="quiet">Nothing happened to ${violation.subject} until then.</p>`}</div></div>`
}

function storyList(lines: readonly string[], other: readonly string[], fails: boolean): Html {
  const there = new Set(other.map(gist))
  return html`<ol class="story">${lines.map((line, k) => {
    const own = other.length > 0 && !there.has(gist(line))
    const is = fails && k === lines.length - 1 ? 'end' : own ? 'own' : other.length > 0 ? 'same' : ''
    return html`<li class="${is}">${columns(line)}</li>`
  })}</ol>`
}

/** A line, or a row of lines that are alike, without when and how often. */
function gist(line: string): string {
  return timeless(line)
    .replace(/ \d+ x (.*) \( \.\. \)$/, ' $1')
    .trim()
}

/** When, who, what: as `lineOf` sets them. */
function columns(line: string): readonly Html[] {
  const [, when, who, what] = /^ *(\+[\d.]+s) {2}(.*?) {1,}(.*)$/s.exec(line) ?? []
  return when === undefined
    ? [html`<span></span><span></span><span>${line}</span>`]
    : [html`<span>${when}</span><span>${who ?? ''}</span><span>${what ?? ''}</span>`]
}

/** The place of the timeline and the list, which the script of the page fills from the data beside it. */
function explorer(result: Judged, violation: Violation, share: number): Html {
  const told = toldOf(result, violation, share)
  const here = told.events.length
  return html`<div class="explorer"><h3>The run, event by event</h3>
<p class="quiet">${here === told.total ? plural(here, 'event') : `${count(here)} of ${plural(told.total, 'event')}`}. ${told.left ?? ''}</p>
<noscript><p class="quiet">The timeline and the list of events need the script of this page.</p></noscript>
<script type="application/json">${raw(inertJson(told))}</script></div>`
}

const alikeMax = 50

function alike(others: readonly Failure[], context: CommandContext): Html {
  if (others.length === 0) return nothing
  return html`<details class="alike"><summary>The same with ${plural(others.length, 'other seed')}</summary><ul>${others
    .slice(0, alikeMax)
    .map(
      (other) => html`<li class="command"><code>${replayCommand(other, context)}</code></li>`,
    )}</ul></details>`
}
