import type { Engine } from '../../engine/api.ts'
import { createEngine } from '../../engine/engine.ts'
import { JobMissing } from '../../engine/errors.ts'
import type { LogLine, LogPage } from '../../engine/ports/logs.ts'
import { inert, inertJson, plural } from '../../report/format.ts'
import { type ExitCode, atPlace } from '../place.ts'
import { preciseInstant } from '../when.ts'
import type { OperateOptions } from './operate.ts'

export interface LogsOptions extends OperateOptions {
  /** Only so many of the last lines. */
  readonly tail?: number
  readonly follow?: boolean
}

const pageLimit = 1_000

/** What a job has said; with `follow` until it has ended. Lines go to stdout, what is said about them to stderr. */
export function logs(id: string, options: LogsOptions): Promise<ExitCode> {
  return atPlace(options, async (store) => {
    const engine = createEngine({ store, name: 'cli' })
    if (options.follow) await followed(engine, id, options)
    else printed(id, await read(engine, id, options), options)
    return 0
  })
}

function printed(id: string, page: LogPage, { json, tail }: LogsOptions): void {
  const { lines, state } = page
  if (state === null) throw new JobMissing(`there is no job ${id}`)
  if (json) {
    process.stdout.write(`${inertJson(page)}\n`)
    return
  }
  if (lines.length === 0) say(`job ${id} has said nothing`)
  const print = printer(tail === undefined ? 0 : (lines[0]?.n ?? 0))
  for (const line of lines) print(line)
}

/** All that is kept, or its end. */
async function read(engine: Engine, id: string, { tail }: LogsOptions): Promise<LogPage> {
  if (tail !== undefined) return engine.logs.tail(id, { limit: tail })
  const lines: LogLine[] = []
  for (;;) {
    const page = await engine.logs.page(id, { from: (lines.at(-1)?.n ?? -1) + 1, limit: pageLimit })
    lines.push(...page.lines)
    if (page.lines.length < pageLimit) return { ...page, lines }
  }
}

async function followed(engine: Engine, id: string, { json, tail }: LogsOptions): Promise<void> {
  const unread = new AbortController()
  // Nobody reads on (`| head`).
  process.stdout.once('error', () => unread.abort())
  const heard = engine.on('store.failed', () => {
    heard()
    say('the database does not answer; goes on trying')
  })
  const from = await startOf(engine, id, tail)
  const print = json ? (line: LogLine) => process.stdout.write(`${inertJson(line)}\n`) : printer(from)
  try {
    for await (const line of engine.logs.follow(id, { from, signal: unread.signal })) print(line)
  } catch (error) {
    if (unread.signal.aborted) return
    throw error
  }
  say(`job ${id}: ${(await engine.get(id))?.state ?? 'is not kept any more'}`)
}

/** Asks once in any case: a database that is not there at all is not waited for. */
async function startOf(engine: Engine, id: string, tail: number | undefined): Promise<number> {
  const { lines, total } = await engine.logs.tail(id, { limit: tail ?? 1 })
  return tail === undefined ? 0 : (lines[0]?.n ?? total)
}

/** Prints lines one after the other, and where some are missing, or another attempt begins. */
function printer(from: number): (line: LogLine) => void {
  let next = from
  let epoch: number | null = null
  return (line) => {
    if (line.n > next) process.stdout.write(`-- ${plural(line.n - next, 'line')} not kept any more\n`)
    if (epoch !== null && line.epoch !== epoch) process.stdout.write('-- another attempt\n')
    next = line.n + 1
    epoch = line.epoch
    const head = `${preciseInstant(line.atMs)}  ${line.level.padEnd(5)}  `
    const text = line.text.split('\n').map(inert)
    process.stdout.write(`${head}${text.join(`\n${' '.repeat(head.length)}`)}\n`)
  }
}

function say(text: string): void {
  process.stderr.write(`${inert(text)}\n`)
}
