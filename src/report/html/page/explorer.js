// A failing run to walk through: the timeline, the list of its events, and the event that is looked at.

/** @param {string} name @param {string} className @param {string} [text] */
function part(name, className, text) {
  const element = document.createElement(name)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  return element
}

/** @param {HTMLElement} home @param {string} text @param {() => void} act */
function button(home, text, act) {
  const element = part('button', '', text)
  element.setAttribute('type', 'button')
  element.addEventListener('click', act)
  home.append(element)
  return element
}

/** @param {HTMLElement} home @param {string} text @param {HTMLElement} control */
function labelled(home, text, control) {
  const label = part('label', '')
  label.append(control, ` ${text}`)
  home.append(label)
}

/** @param {boolean} on */
function checkbox(on) {
  const element = document.createElement('input')
  element.type = 'checkbox'
  element.checked = on
  return element
}

/** @param {Run} run */
function controlsOf(run) {
  const home = part('div', 'controls')
  const words = document.createElement('input')
  words.type = 'search'
  words.placeholder = 'filter: words, all of them'
  words.setAttribute('aria-label', 'only events with these words')
  const who = document.createElement('select')
  who.setAttribute('aria-label', 'only events of')
  for (const [value, name] of [
    ['', 'everybody'],
    ['env', 'the world'],
    ...run.nodes.map((node) => [node, node]),
  ]) {
    const option = document.createElement('option')
    option.value = value ?? ''
    option.textContent = spelled((name ?? '').slice(0, 40))
    who.append(option)
  }
  const about = checkbox(false)
  const steps = checkbox(false)
  const count = part('output', 'quiet')
  home.append(words, who)
  labelled(home, `only ${spelled(run.subject.slice(0, 40))}`, about)
  labelled(home, 'messages and timers', steps)
  home.append(count)
  /** @returns {number[]} */
  const matching = () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean)
    return [...run.events.keys()].filter((event) => {
      const [, says, line] = run.events[event] ?? [0, '', { atMs: 0, node: '', incarnation: 0 }]
      if (line.step !== undefined && !steps.checked) return false
      if (who.value !== '' && line.node !== who.value) return false
      if (about.checked && !isAbout(run, line)) return false
      const text = `${line.node} ${says} ${line.type ?? ''}`.toLowerCase()
      return asked.every((word) => text.includes(word))
    })
  }
  return { home, matching, count, inputs: [words, who, about, steps] }
}

function legend() {
  const home = part('p', 'legend')
  const names = {
    enqueue: 'enqueued',
    claim: 'claimed',
    settle: 'settled',
    reclaim: 'taken back',
    renew: 'renewed',
    doubt: 'in doubt, lost, or cancelled',
    death: 'died',
  }
  for (const [kind, name] of Object.entries(names)) {
    const sign = svg('svg', { width: 16, height: 16, viewBox: '-8 -8 16 16', 'aria-hidden': 'true' })
    sign.append(svg('path', { class: `mark ${kind} strong`, d: shapes[kind] ?? '' }))
    const entry = part('span', '')
    entry.append(sign, name)
    home.append(entry)
  }
  for (const [kind, name] of [
    ['handler', 'handler runs'],
    ['pause', 'stands still'],
    ['down', 'database away'],
    ['fault', 'fault'],
  ]) {
    const sign = svg('svg', { width: 22, height: 12, 'aria-hidden': 'true' })
    sign.append(svg('rect', { class: `bar ${kind} strong`, x: 1, y: 1, width: 18, height: 10 }))
    const entry = part('span', '')
    entry.append(sign, name ?? '')
    home.append(entry)
  }
  return home
}

/** @param {HTMLElement} home @param {number} number */
function mount(home, number) {
  /** @type {Run} */
  const run = JSON.parse(home.querySelector('script')?.textContent ?? 'null')
  const model = modelOf(run)
  const [fromMs, toMs] = storyWindow(run)
  /** @type {View} */
  const view = { fromMs, toMs, selected: run.violated, pick: (event) => select(event) }

  const zoom = part('div', 'controls')
  const frame = part('div', 'timeline')
  frame.tabIndex = 0
  frame.setAttribute('role', 'group')
  frame.setAttribute('aria-label', 'timeline; arrow keys walk through the events, plus and minus zoom')
  const picture = svg('svg', { id: `timeline-${number}`, 'aria-hidden': 'true' })
  frame.append(picture)
  const controls = controlsOf(run)
  const box = part('div', 'list')
  box.id = `list-${number}`
  box.tabIndex = 0
  box.setAttribute('role', 'listbox')
  box.setAttribute('aria-label', 'events of the run')
  const detail = part('pre', 'detail')
  detail.tabIndex = 0
  detail.setAttribute('aria-live', 'polite')
  detail.setAttribute('aria-label', 'the event that is looked at')
  const panes = part('div', 'panes')
  panes.append(box, detail)
  home.append(zoom, frame, legend(), controls.home, panes)

  const list = listIn(box, run, (event) => select(event))
  let rows = controls.matching()

  /** @param {number} from @param {number} to */
  function look(from, to) {
    const end = Math.max(run.toMs, run.atMs, 1)
    const span = Math.min(Math.max(5, to - from), end)
    view.fromMs = Math.min(Math.max(0, from), end - span)
    view.toMs = view.fromMs + span
    redraw()
  }
  /** @param {number} factor */
  function scale(factor) {
    const selected = view.selected === null ? undefined : run.events[view.selected]
    const focus = selected?.[2].atMs ?? run.atMs
    const within = focus >= view.fromMs && focus <= view.toMs
    const middle = within ? focus : (view.fromMs + view.toMs) / 2
    look(middle - (middle - view.fromMs) * factor, middle + (view.toMs - middle) * factor)
  }
  function redraw() {
    draw(picture, run, model, view, Math.max(280, frame.clientWidth))
  }
  /** @param {number} event */
  function select(event) {
    view.selected = event
    const told = run.events[event]
    if (!told) return
    const at = told[2].atMs
    detail.textContent = spelled(JSON.stringify(told[2], null, 2))
    list.show(rows, event)
    list.reveal()
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
  /** @param {number} by */
  function walk(by) {
    const at =
      view.selected === null ? -1 : rows.findIndex((event) => event >= /** @type {number} */ (view.selected))
    const here = at < 0 ? rows.length : at
    // From an event that the filter hides, the next one is where it would stand.
    const hidden = rows[here] !== view.selected && by > 0 ? by - 1 : by
    const next = rows[Math.min(rows.length - 1, Math.max(0, here + hidden))]
    if (next !== undefined) select(next)
  }

  button(zoom, 'The story', () => look(...storyWindow(run)))
  button(zoom, 'The whole run', () => look(0, run.toMs))
  button(zoom, 'Nearer', () => scale(0.5))
  button(zoom, 'Farther', () => scale(2))
  button(zoom, 'Earlier', () =>
    look(view.fromMs - (view.toMs - view.fromMs) / 2, view.toMs - (view.toMs - view.fromMs) / 2),
  )
  button(zoom, 'Later', () =>
    look(view.fromMs + (view.toMs - view.fromMs) / 2, view.toMs + (view.toMs - view.fromMs) / 2),
  )
  if (run.violated !== null) button(zoom, 'The violation', () => select(/** @type {number} */ (run.violated)))

  const page = () => Math.max(1, Math.floor(box.clientHeight / rowHeight) - 1)
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => walk(1),
    ArrowUp: () => walk(-1),
    ArrowRight: () => walk(1),
    ArrowLeft: () => walk(-1),
    PageDown: () => walk(page()),
    PageUp: () => walk(-page()),
    Home: () => walk(-rows.length),
    End: () => walk(rows.length),
    '+': () => scale(0.5),
    '-': () => scale(2),
  }
  for (const element of [frame, box]) {
    element.addEventListener('keydown', (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key]
      if (!act) return
      event.preventDefault()
      act()
    })
  }
  for (const input of controls.inputs) input.addEventListener('input', filter)
  filter()
  if (run.violated === null) redraw()
  else select(run.violated)
  new ResizeObserver(redraw).observe(frame)
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
