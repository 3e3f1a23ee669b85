'use strict'
// What the timeline shows of a run: bars that last, and marks of one instant, each on the lane of its node. It draws
// nothing.

/**
 * @typedef {{ atMs: number, node: string, incarnation: number, type?: string, job?: string, epoch?: number,
 *   forMs?: number, fault?: string, family?: string, step?: string }} Line
 * @typedef {[number, string, Line]} Told
 * @typedef {{ id: string, family: string, words: string, forMs: number }} Fault
 * @typedef {{ subject: string, nodes: string[], toMs: number, atMs: number, violated: number | null,
 *   faults: Fault[], events: Told[], total: number, left: string | null }} Run
 * @typedef {{ lane: number, fromMs: number, toMs: number, kind: string, strong: boolean, event: number }} Bar
 * @typedef {{ lane: number, atMs: number, kind: string, strong: boolean, event: number }} Mark
 * @typedef {{ lanes: string[], bars: Bar[], marks: Mark[] }} Model
 */

/** The marks: what they stand for, by the type of event. @type {Record<string, string>} */
const markKinds = {
  'job.inserted': 'enqueue',
  'job.claimed': 'claim',
  'claim.recovered': 'claim',
  'job.settled': 'settle',
  'effect.committed': 'settle',
  'job.reclaimed': 'reclaim',
  'job.timedOut': 'reclaim',
  'job.takenBack': 'reclaim',
  'lease.renewed': 'renew',
  'attempt.uncertain': 'doubt',
  'attempt.lost': 'doubt',
  'attempt.cancelling': 'doubt',
  'job.cancelRequested': 'doubt',
  'node.crashed': 'death',
  'database.jumped': 'doubt',
  'database.backedUp': 'doubt',
  'database.restored': 'doubt',
}

/** @param {Run} run @param {Line} line */
function isAbout(run, line) {
  return line.job === run.subject || (line.job === undefined && line.node === run.subject)
}

/** @param {Run} run @returns {Model} */
function modelOf(run) {
  const lanes = ['faults', 'database', ...run.nodes]
  /** @type {Model} */
  const model = { lanes, bars: [], marks: [] }
  /** What has begun, by what it is. @type {Map<string, Bar>} */
  const open = new Map()
  const longest = new Map(run.faults.map(({ id, forMs }) => [id, forMs]))

  /** @param {string} key @param {Bar} bar */
  const begin = (key, bar) => {
    end(key, bar.fromMs)
    open.set(key, bar)
    model.bars.push(bar)
  }
  /** @param {string} key @param {number} atMs */
  const end = (key, atMs) => {
    const bar = open.get(key)
    if (bar) bar.toMs = atMs
    open.delete(key)
  }

  for (const [event, [, , line]] of run.events.entries()) {
    const { atMs, node, type, job, epoch } = line
    if (type === undefined) continue
    const strong = isAbout(run, line)
    const lane = lanes.indexOf(node)
    const bar = { lane, fromMs: atMs, toMs: run.toMs, strong, event }
    const process = `${node}#${line.incarnation}`
    const handler = `${process}/${job}/${epoch}`
    if (type === 'fault.struck') {
      const forMs = line.forMs || longest.get(line.fault ?? '') || 0
      model.bars.push({ ...bar, lane: 0, toMs: atMs + forMs, kind: 'fault', strong: true })
    } else if (type === 'database.down') begin('database', { ...bar, lane: 1, kind: 'down', strong: true })
    else if (type === 'database.up') end('database', atMs)
    else if (type === 'node.started') begin(process, { ...bar, kind: 'alive' })
    else if (type === 'node.paused') begin(`${process} stands`, { ...bar, kind: 'pause', strong: true })
    else if (type === 'node.resumed') end(`${process} stands`, atMs)
    else if (type === 'attempt.started') begin(handler, { ...bar, kind: 'handler' })
    else if (type === 'handler.ended' || type === 'attempt.ended' || type === 'attempt.lost')
      end(handler, atMs)
    else if (type === 'node.crashed' || type === 'engine.stopped') {
      for (const key of open.keys()) if (key.startsWith(process)) end(key, atMs)
    }
    const kind = markKinds[type]
    const where = type.startsWith('database.') ? 1 : lane
    if (kind && where >= 0) {
      model.marks.push({ lane: where, atMs, kind, strong: strong || kind === 'death', event })
    }
  }
  return model
}

/** The part of the run that the failure is about, with some room. @param {Run} run @returns {[number, number]} */
function storyWindow(run) {
  const first = run.events.find(([, , line]) => isAbout(run, line) && line.step === undefined)
  const fromMs = Math.min(first?.[2].atMs ?? 0, run.atMs)
  const room = Math.max(1_000, (run.atMs - fromMs) * 0.08)
  return [Math.max(0, fromMs - room), Math.min(Math.max(run.toMs, run.atMs), run.atMs + room)]
}
