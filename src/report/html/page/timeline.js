// Draws a model as SVG: lanes below each other, bars and marks on them. What is fainter is about other jobs.

/** @typedef {{ fromMs: number, toMs: number, selected: number | null, pick: (event: number) => void }} View */

const namespace = 'http://www.w3.org/2000/svg'
const laneHeight = 30
const axisHeight = 22

/** As paths around (0, 0). @type {Record<string, string>} */
const shapes = {
  enqueue: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0',
  claim: 'M-4 -5L5 0L-4 5Z',
  settle: 'M-4 -4H4V4H-4Z',
  reclaim: 'M-5 -5L5 5M5 -5L-5 5',
  renew: 'M0 -4V4',
  doubt: 'M0 -5L5 0L0 5L-5 0Z',
  death: 'M-6 -6L6 6M6 -6L-6 6M0 -7V7',
}

/**
 * @param {string} name @param {Record<string, string | number>} attributes @param {string} [text]
 * @returns {SVGElement}
 */
function svg(name, attributes, text) {
  const element = document.createElementNS(namespace, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  if (text !== undefined) element.textContent = text
  return element
}

/** @param {SVGElement} root @param {Run} run @param {Model} model @param {View} view @param {number} width */
function draw(root, run, model, view, width) {
  const label = Math.min(84, 16 + 7 * Math.max(...model.lanes.map((name) => shorter(name).length)))
  const height = model.lanes.length * laneHeight + axisHeight
  const perMs = (width - label - 8) / (view.toMs - view.fromMs)
  /** @param {number} ms */
  const x = (ms) => label + (ms - view.fromMs) * perMs
  /** @param {number} lane */
  const y = (lane) => lane * laneHeight + laneHeight / 2
  root.replaceChildren()
  root.setAttribute('width', String(width))
  root.setAttribute('height', String(height))
  for (const [lane, name] of model.lanes.entries()) {
    root.append(svg('line', { class: 'lane', x1: label, x2: width, y1: y(lane), y2: y(lane) }))
    root.append(svg('text', { class: 'label', x: label - 8, y: y(lane) + 4 }, shorter(name)))
  }
  drawAxis(root, view, x, height)
  const inView = svg('g', {})
  const clip = `${root.id}-clip`
  const bounds = svg('clipPath', { id: clip })
  bounds.append(svg('rect', { x: label, y: 0, width: width - label, height }))
  inView.setAttribute('clip-path', `url(#${clip})`)
  root.append(bounds, inView)
  drawBars(inView, run, model, view, x, y)
  if (run.atMs >= view.fromMs && run.atMs <= view.toMs) {
    inView.append(
      svg('line', { class: 'violated', x1: x(run.atMs), x2: x(run.atMs), y1: 0, y2: height - axisHeight }),
    )
  }
  drawMarks(inView, run, model, view, x, y)
  const selected = view.selected === null ? undefined : run.events[view.selected]
  if (!selected) return
  const at = x(selected[2].atMs)
  inView.append(svg('line', { class: 'selected', x1: at, x2: at, y1: 0, y2: height - axisHeight }))
}

/** @param {SVGElement} root @param {View} view @param {(ms: number) => number} x @param {number} height */
function drawAxis(root, view, x, height) {
  const every = stepOf((view.toMs - view.fromMs) / Math.max(2, (x(view.toMs) - x(view.fromMs)) / 90))
  for (let ms = Math.ceil(view.fromMs / every) * every; ms <= view.toMs; ms += every) {
    root.append(svg('line', { class: 'grid', x1: x(ms), x2: x(ms), y1: 0, y2: height - axisHeight }))
    root.append(svg('text', { class: 'tick', x: x(ms), y: height - 6 }, timeText(ms, every)))
  }
}

/** A round number that is not smaller. @param {number} ms */
function stepOf(ms) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, ms)))
  return [1, 2, 5, 10].map((times) => times * ten).find((step) => step >= ms) ?? 10 * ten
}

/** @param {number} ms @param {number} every */
function timeText(ms, every) {
  if (every >= 3_600_000) return `+${(ms / 3_600_000).toFixed(every % 3_600_000 === 0 ? 0 : 1)} h`
  return `+${(ms / 1_000).toFixed(every >= 1_000 ? 0 : every >= 100 ? 1 : 3)} s`
}

/**
 * @param {SVGElement} root @param {Run} run @param {Model} model @param {View} view
 * @param {(ms: number) => number} x @param {(lane: number) => number} y
 */
function drawBars(root, run, model, view, x, y) {
  /** What lies on each pixel already, of what is faint: a page of ten thousand bars shows no more. @type {Set<string>} */
  const there = new Set()
  const bars = model.bars.filter(
    ({ fromMs, toMs, lane }) => lane >= 0 && toMs >= view.fromMs && fromMs <= view.toMs,
  )
  for (const bar of bars.sort((a, b) => Number(a.strong) - Number(b.strong))) {
    const from = Math.max(x(bar.fromMs), -10)
    const width = Math.max(2, Math.min(x(bar.toMs), x(view.toMs) + 20) - from)
    const key = `${bar.lane} ${bar.kind} ${Math.round(from)} ${Math.round(width)}`
    if (!bar.strong && bar.kind === 'handler' && there.has(key)) continue
    there.add(key)
    const tall = bar.kind === 'alive' ? 2 : bar.kind === 'handler' ? (bar.strong ? 10 : 6) : 20
    const place = { x: from, y: y(bar.lane) - tall / 2, width, height: tall }
    root.append(picked(svg('rect', { class: classOf('bar', bar), ...place }), run, view, bar.event))
    if (bar.kind === 'fault')
      root.append(...faultName(run, bar, Math.max(from, x(view.fromMs)), from + width, y(bar.lane)))
  }
}

/** Its name, where there is room. @param {Run} run @param {Bar} bar @param {number} from @param {number} to @param {number} y */
function faultName(run, bar, from, to, y) {
  const name = spelled((run.events[bar.event]?.[2].fault ?? '').slice(0, 60))
  return to - from > 7 * name.length
    ? [svg('text', { class: 'says-fault', x: from + 6, y: y + 4 }, name)]
    : []
}

/**
 * @param {SVGElement} root @param {Run} run @param {Model} model @param {View} view
 * @param {(ms: number) => number} x @param {(lane: number) => number} y
 */
function drawMarks(root, run, model, view, x, y) {
  /** @type {Set<string>} */
  const there = new Set()
  const marks = model.marks.filter(({ atMs }) => atMs >= view.fromMs && atMs <= view.toMs)
  for (const mark of marks.sort((a, b) => Number(a.strong) - Number(b.strong))) {
    const key = `${mark.lane} ${mark.kind} ${Math.round(x(mark.atMs))}`
    if (!mark.strong && there.has(key)) continue
    there.add(key)
    const transform = `translate(${x(mark.atMs)} ${y(mark.lane)})`
    const element = svg('path', { class: classOf('mark', mark), d: shapes[mark.kind] ?? '', transform })
    root.append(picked(element, run, view, mark.event))
  }
}

/** @param {string} what @param {{ kind: string, strong: boolean }} of */
function classOf(what, { kind, strong }) {
  return `${what} ${kind} ${strong ? 'strong' : 'faint'}`
}

/** @param {SVGElement} element @param {Run} run @param {View} view @param {number} event */
function picked(element, run, view, event) {
  const [, words, line] = run.events[event] ?? [0, '', { atMs: 0, node: '' }]
  element.append(
    svg(
      'title',
      {},
      spelled(`+${(line.atMs / 1_000).toFixed(3)} s ${line.node.slice(0, 40)}: ${words.slice(0, 300)}`),
    ),
  )
  element.addEventListener('click', () => view.pick(event))
  return element
}

/** @param {string} name */
function shorter(name) {
  return name.length > 10 ? `${spelled(name.slice(0, 9))}\u2026` : spelled(name)
}

/** With what reorders or hides text spelled out. @param {string} text */
function spelled(text) {
  return text.replaceAll(
    /[^\P{C}\n]/gu,
    (mark) => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}
