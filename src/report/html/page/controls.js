// What one works the explorer with: the filter, the zoom, and the meaning of the marks.

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
