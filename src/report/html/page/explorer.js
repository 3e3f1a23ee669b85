// A failing run to walk through: the timeline, the list of its events, and the event that is looked at.

/** @param {string} className @param {string} role @param {string} label */
function focusable(className, role, label) {
  const element = part(role === '' ? 'pre' : 'div', className)
  element.tabIndex = 0
  if (role !== '') element.setAttribute('role', role)
  element.setAttribute('aria-label', label)
  return element
}

/** @param {HTMLElement} home @param {Run} run @param {number} number */
function layOut(home, run, number) {
  const zoom = part('div', 'controls')
  const frame = focusable(
    'timeline',
    'group',
    'timeline; arrow keys walk through the events, plus and minus zoom',
  )
  const picture = svg('svg', { id: `timeline-${number}`, 'aria-hidden': 'true' })
  frame.append(picture)
  const controls = controlsOf(run)
  const box = focusable('list', 'listbox', 'events of the run')
  box.id = `list-${number}`
  const detail = focusable('detail', '', 'the event that is looked at')
  detail.setAttribute('aria-live', 'polite')
  const panes = part('div', 'panes')
  panes.append(box, detail)
  home.append(zoom, frame, legend(), controls.home, panes)
  return { zoom, frame, picture, controls, box, detail }
}

/** @param {HTMLElement} home @param {number} number */
function mount(home, number) {
  /** @type {Run} */
  const run = JSON.parse(home.querySelector('script')?.textContent ?? 'null')
  const model = modelOf(run)
  const [fromMs, toMs] = storyWindow(run)
  /** @type {View} */
  const view = { fromMs, toMs, selected: run.violated, pick: (event) => select(event) }
  const { zoom, frame, picture, controls, box, detail } = layOut(home, run, number)
  const list = listIn(box, run, (event) => select(event))
  let rows = controls.matching()

  function redraw() {
    draw(picture, run, model, view, Math.max(280, frame.clientWidth))
  }
  /** @param {number} from @param {number} to */
  function look(from, to) {
    const end = Math.max(run.toMs, run.atMs, 1)
    const span = Math.min(Math.max(5, to - from), end)
    view.fromMs = Math.min(Math.max(0, from), end - span)
    view.toMs = view.fromMs + span
    redraw()
  }
  /** @param {number} event */
  function select(event) {
    const told = run.events[event]
    if (!told) return
    view.selected = event
    detail.textContent = spelled(JSON.stringify(told[2], null, 2))
    list.show(rows, event)
    list.reveal()
    const at = told[2].atMs
    const span = view.toMs - view.fromMs
    if (at < view.fromMs || at > view.toMs) look(at - span / 2, at + span / 2)
    else redraw()
  }
  function filter() {
    rows = controls.matching()
    controls.count.textContent = `${rows.length.toLocaleString('en-US')} of ${run.events.length.toLocaleString('en-US')} events`
    list.show(rows, view.selected)
    list.reveal()
  }
  /** To another of those that the filter shows. @param {number} by */
  function walk(by) {
    const from = view.selected ?? -1
    const at = rows.findIndex((event) => event >= from)
    const here = at < 0 ? rows.length : at
    // From an event that the filter hides, the next one is where it would stand.
    const steps = rows[here] !== from && by > 0 ? by - 1 : by
    const next = rows[Math.min(rows.length - 1, Math.max(0, here + steps))]
    if (next !== undefined) select(next)
  }

  zoomWith(zoom, run, view, look, select)
  walkWith(
    [frame, box],
    walk,
    () => Math.max(1, Math.floor(box.clientHeight / rowHeight) - 1),
    (factor) => look(...scaled(run, view, factor)),
  )
  for (const input of controls.inputs) input.addEventListener('input', filter)
  filter()
  if (run.violated === null) redraw()
  else select(run.violated)
  new ResizeObserver(redraw).observe(frame)
}

/** Around what is looked at, if it is in sight. @param {Run} run @param {View} view @param {number} factor @returns {[number, number]} */
function scaled(run, { fromMs, toMs, selected }, factor) {
  const focus = (selected === null ? undefined : run.events[selected])?.[2].atMs ?? run.atMs
  const middle = focus >= fromMs && focus <= toMs ? focus : (fromMs + toMs) / 2
  return [middle - (middle - fromMs) * factor, middle + (toMs - middle) * factor]
}

/**
 * @param {HTMLElement} home @param {Run} run @param {View} view @param {(from: number, to: number) => void} look
 * @param {(event: number) => void} select
 */
function zoomWith(home, run, view, look, select) {
  /** @param {number} by Of what is in sight. */
  const shift = (by) => {
    const ms = (view.toMs - view.fromMs) * by
    look(view.fromMs + ms, view.toMs + ms)
  }
  button(home, 'The story', () => look(...storyWindow(run)))
  button(home, 'The whole run', () => look(0, run.toMs))
  button(home, 'Nearer', () => look(...scaled(run, view, 0.5)))
  button(home, 'Farther', () => look(...scaled(run, view, 2)))
  button(home, 'Earlier', () => shift(-0.5))
  button(home, 'Later', () => shift(0.5))
  const { violated } = run
  if (violated !== null) button(home, 'The violation', () => select(violated))
}

/**
 * @param {HTMLElement[]} elements @param {(by: number) => void} walk @param {() => number} page
 * @param {(factor: number) => void} scale
 */
function walkWith(elements, walk, page, scale) {
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => walk(1),
    ArrowUp: () => walk(-1),
    ArrowRight: () => walk(1),
    ArrowLeft: () => walk(-1),
    PageDown: () => walk(page()),
    PageUp: () => walk(-page()),
    Home: () => walk(Number.NEGATIVE_INFINITY),
    End: () => walk(Number.POSITIVE_INFINITY),
    '+': () => scale(0.5),
    '-': () => scale(2),
  }
  for (const element of elements) {
    element.addEventListener('keydown', (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key]
      if (!act) return
      event.preventDefault()
      act()
    })
  }
}

for (const [number, details] of document.querySelectorAll('details').entries()) {
  /** @type {HTMLElement | null} */
  const home = details.querySelector(':scope > .explorer')
  if (!home) continue
  let mounted = false
  const show = () => {
    if (mounted || !details.open) return
    mounted = true
    mount(home, number)
  }
  details.addEventListener('toggle', show)
  show()
}

/** What a link leads to is shown. */
function unfold() {
  const target = document.getElementById(location.hash.slice(1))
  if (target instanceof HTMLDetailsElement) target.open = true
}
window.addEventListener('hashchange', unfold)
unfold()
