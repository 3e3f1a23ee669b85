// A list of which only the rows in sight exist: a run has tens of thousands of events.

const rowHeight = 24

/**
 * @typedef {{ show: (rows: number[], selected: number | null) => void, reveal: () => void }} List
 */

/** @param {HTMLElement} box @param {Run} run @param {(event: number) => void} pick @returns {List} */
function listIn(box, run, pick) {
  /** @type {number[]} */
  let rows = []
  /** @type {number | null} */
  let selected = null
  const inner = document.createElement('div')
  inner.className = 'rows'
  // The rows are the options of the box, whatever lies between.
  inner.setAttribute('role', 'presentation')
  box.append(inner)

  /** @param {number} at */
  function rowOf(at) {
    const event = rows[at] ?? 0
    const [number, words, line] = run.events[event] ?? [0, '', { atMs: 0, node: '', incarnation: 0 }]
    const row = document.createElement('div')
    row.id = `${box.id}-${event}`
    row.setAttribute('role', 'option')
    row.setAttribute('aria-selected', String(event === selected))
    row.setAttribute('aria-setsize', String(rows.length))
    row.setAttribute('aria-posinset', String(at + 1))
    row.className = `event${isAbout(run, line) ? ' about' : ''}${event === run.violated ? ' violated' : ''}${line.step ? ' step' : ''}`
    row.style.transform = `translateY(${at * rowHeight}px)`
    const who = line.node === 'env' ? 'world' : `${line.node}#${line.incarnation}`
    for (const text of [String(number), `+${(line.atMs / 1_000).toFixed(3)}`, spelled(who), words]) {
      const cell = document.createElement('span')
      cell.textContent = text
      row.append(cell)
    }
    row.addEventListener('click', () => pick(event))
    return row
  }

  function render() {
    const from = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 10)
    const to = Math.min(rows.length, Math.ceil((box.scrollTop + box.clientHeight) / rowHeight) + 10)
    inner.replaceChildren(...Array.from({ length: Math.max(0, to - from) }, (_, k) => rowOf(from + k)))
  }

  box.addEventListener('scroll', render, { passive: true })
  return {
    show: (shown, chosen) => {
      rows = shown
      selected = chosen
      inner.style.height = `${rows.length * rowHeight}px`
      if (chosen === null) box.removeAttribute('aria-activedescendant')
      else box.setAttribute('aria-activedescendant', `${box.id}-${chosen}`)
      render()
    },
    reveal: () => {
      const at = selected === null ? -1 : rows.indexOf(selected)
      if (at < 0) return
      const top = at * rowHeight
      if (top < box.scrollTop || top + rowHeight > box.scrollTop + box.clientHeight) {
        box.scrollTop = Math.max(0, top - box.clientHeight / 2)
      }
      render()
    },
  }
}
