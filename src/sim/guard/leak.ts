// What a leak is, and where it happened: attribution by stack, to the innermost frame that somebody wrote.
// It reads stacks only; which calls are leaks is decided by the tables in time.ts, chance.ts, timers.ts, io.ts.
import { fileURLToPath } from 'node:url'

/** One call that made a run depend on something other than its seed. */
export interface Leak {
  /** The ambient source as one would write it: `Math.random`, `new Date()`, `fs.readFileSync`. */
  readonly what: string
  /** `file:line:column` of the innermost frame that is neither Node's, the guard's nor a test runner's. */
  readonly site: string
  /** `what`, then all frames from the call outwards. */
  readonly stack: string
}

/** `site` of a leak that no written line called, as in `promise.then(Date.now)`. */
export const unknownSite = '(no user frame)'

/** Deep enough for a call from within a recursive-descent library; a full stack may have 10,000 frames. */
const framesMax = 100

const runnerFrame = /[\\/]node_modules[\\/](?:@vitest[\\/]|(?:vitest|tinypool|vite-node|vite)[\\/])/

/** What is further out than the barrier is the bench, which set off an event; nobody there called. */
const barrier = fileURLToPath(new URL('../barrier.', import.meta.url))

/**
 * Node at its own business: printing (a runner that captures the console stamps each line; a console
 * redirected to a file writes it with fs) and handing over an uncaught exception (which arms an immediate).
 */
const nodesOwnBusiness = /^node:internal\/(?:console\/|fs\/sync_write_stream|process\/execution)/

/**
 * Describes the call of `patched` that is on the stack now, or null when Node made it for itself.
 * Call it disarmed: to format a stack can run code of a test runner and read source maps.
 */
export function describeLeak(what: string, patched: object): Leak | null {
  const frames = framesAbove(patched)
  const all = frames.map(locationOf)
  const drain = all.findIndex((location) => readable(location).startsWith(barrier))
  const locations = drain < 0 ? all : all.slice(0, drain)
  const at = locations.findIndex(isWritten)
  const inner = at < 0 ? locations : locations.slice(0, at)
  if (inner.some((location) => nodesOwnBusiness.test(location))) return null
  return { what, site: readable(locations[at] ?? unknownSite), stack: [what, ...frames].join('\n') }
}

/** Frames outside of `patched`, innermost first; this cut is what keeps the guard's own frames out. */
function framesAbove(patched: object): string[] {
  const limit = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')
  // Somebody may have set it to 0, removed it, or frozen Error: then there is no site, but no exception either.
  Reflect.set(Error, 'stackTraceLimit', framesMax)
  try {
    return formatted(patched) ?? withoutFormatter(() => formatted(patched)) ?? []
  } finally {
    if (limit) Reflect.defineProperty(Error, 'stackTraceLimit', limit)
    else Reflect.deleteProperty(Error, 'stackTraceLimit')
  }
}

function formatted(patched: object): string[] | undefined {
  const holder: { stack?: unknown } = new Error('leak')
  Error.captureStackTrace(holder, patched as () => void)
  const { stack } = holder
  if (typeof stack !== 'string') return undefined
  return stack.split('\n').filter((line) => /^\s+at /.test(line))
}

/** For programs whose `Error.prepareStackTrace` makes something else than text. */
function withoutFormatter<T>(body: () => T): T {
  const formatter = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')
  Reflect.set(Error, 'prepareStackTrace', undefined)
  try {
    return body()
  } finally {
    if (formatter) Reflect.defineProperty(Error, 'prepareStackTrace', formatter)
    else Reflect.deleteProperty(Error, 'prepareStackTrace')
  }
}

/** `at f (LOCATION)`, `at async LOCATION`; of `eval at f (LOCATION), <anonymous>:1:1`, who called eval. */
function locationOf(frame: string): string {
  const text = frame.trim().replace(/^at (?:async )?/, '')
  const open = text.indexOf(' (')
  const location = open >= 0 && text.endsWith(')') ? text.slice(open + 2, -1) : text
  if (!location.startsWith('eval at ')) return location
  return /\(([^()]+:\d+:\d+)\)/.exec(location)?.[1] ?? location
}

function isWritten(location: string): boolean {
  if (location.startsWith('node:') || location.startsWith('<anonymous>')) return false
  return /:\d+:\d+$/.test(location) && !runnerFrame.test(location)
}

/** A file URL as a path, without the query by which test runners tell versions of a module apart. */
function readable(location: string): string {
  if (!location.startsWith('file:')) return location
  const [, url, position] = /^(.*?)(?:\?.*?)?(:\d+:\d+)$/.exec(location) ?? []
  if (url === undefined || position === undefined || !URL.canParse(url)) return location
  return fileURLToPath(url) + position
}
