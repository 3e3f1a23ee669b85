import { instant } from '../properties/model/when.ts'
import type { Step } from '../sim/recorder.ts'
import { type Line, whoOf } from './line.ts'

/** A request that has neither landed nor been answered. */
interface Open {
  readonly atMs: number
  givenUpMs: number | null
}

/** A message that nothing holds up arrives within this. */
const promptMsMax = 20

/**
 * Says of each line whether it is the execution of a request that its caller had given up: then when, in words, else
 * nothing. A trace does not say to which request an execution belongs, so what could be in time is taken to be.
 */
export function createGivenUp(): (line: Line) => string {
  const calls = new Map<string, Open[]>()
  let down = false
  let answered = ''

  function openOf(line: Line, call: string): Open[] {
    const key = `${whoOf(line)} ${call}`
    const open = calls.get(key) ?? []
    calls.set(key, open)
    return open
  }

  function executed(open: Open[], atMs: number): string {
    const given = open.filter((request) => !isWaiting(request))
    const one = open.findLast((request) => atMs - request.atMs <= promptMsMax) ?? open[0]
    if (!one) return ''
    open.splice(open.indexOf(one), 1)
    // While the database answers nobody, what lands was sent long ago; else one that still waits may be it.
    if (one.givenUpMs === null || (!down && open.some(isWaiting))) return ''
    return given.length === 1 ? `(given up at ${instant(one.givenUpMs)})` : '(given up before)'
  }

  function moved(step: Step): string {
    const open = openOf(step, step.label)
    if (step.step === 'request') open.push({ atMs: step.atMs, givenUpMs: null })
    if (step.step === 'execution') return executed(open, step.atMs)
    if (step.step !== 'reply' || step.outcome === 'ok') return ''
    answered = answerOf(step, step.label)
    const waiting = open.findIndex(isWaiting)
    if (waiting >= 0) open.splice(waiting, 1)
    return ''
  }

  return (line) => {
    if ('step' in line) return moved(line)
    if (line.type === 'database.up') down = false
    if (line.type === 'database.down') {
      down = true
      // What was given up before is lost, or nobody can tell it from what comes.
      for (const [key, open] of calls) calls.set(key, open.filter(isWaiting))
    }
    // A failure that is an answer leaves nothing on its way.
    if (line.type === 'store.failed' && answered !== answerOf(line, line.call)) {
      const waiting = openOf(line, line.call).find(isWaiting)
      if (waiting) waiting.givenUpMs = line.atMs
    }
    return ''
  }
}

function isWaiting({ givenUpMs }: Open): boolean {
  return givenUpMs === null
}

function answerOf(line: Line, call: string): string {
  return `${whoOf(line)} ${call} ${line.atMs}`
}
