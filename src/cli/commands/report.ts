import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { InvalidArgument } from '../../engine/errors.ts'
import { inert } from '../../report/format.ts'
import { type Verdict, exitCodes } from '../../report/report.ts'
import { openFile } from '../opener.ts'
import { reportFiles } from '../reports.ts'

export interface ReportOptions {
  readonly open?: boolean
}

interface Told {
  readonly command: keyof typeof reportFiles
  readonly verdict: Verdict
  readonly text: string
  /** Null: there is none. */
  readonly page: string | null
}

/** The verdict that matters most, first. */
const gravest: readonly Verdict[] = ['violated', 'nondeterministic', 'inconclusive', 'pass']

/**
 * Prints what `simulate` and `explore` printed when they wrote into that directory; answers the exit code that they
 * ended with: of two, that of the graver verdict.
 */
export async function report(directory: string, { open = false }: ReportOptions): Promise<number> {
  const told = all(directory)
  if (open) {
    const unpaged = told.find(({ page }) => page === null)
    if (unpaged) {
      const page = path.join(directory, reportFiles[unpaged.command].html)
      throw new InvalidArgument(`there is no ${page}: run ${unpaged.command} first`)
    }
  }
  const parts = told.map(({ text, page }) =>
    [
      ...text.trimEnd().split('\n').map(inert),
      ...(page === null ? [] : ['', inert(path.resolve(page))]),
    ].join('\n'),
  )
  process.stdout.write(`${parts.join('\n\n')}\n`)
  for (const { page } of told) if (open && page !== null) await openFile(path.resolve(page))
  const verdict = gravest.find((is) => told.some((one) => one.verdict === is)) ?? 'pass'
  return exitCodes[verdict]
}

/** At least one: that of `simulate` is missed where there is none. */
function all(directory: string): readonly Told[] {
  const at = (name: string): string => path.join(directory, name)
  const commands = ['simulate', 'explore'] as const
  const there = commands.filter((command) => existsSync(at(reportFiles[command].json)))
  return (there.length === 0 ? (['simulate'] as const) : there).map((command) => {
    const { json, html } = reportFiles[command]
    return { command, ...read(at(json), command), page: existsSync(at(html)) ? at(html) : null }
  })
}

function read(file: string, command: Told['command']): Pick<Told, 'verdict' | 'text'> {
  let told: { readonly verdict?: unknown; readonly text?: unknown } | null
  try {
    told = JSON.parse(readFileSync(file, 'utf8')) as typeof told
  } catch (error) {
    throw new InvalidArgument(`${file} cannot be read: ${String(error)}; ${command} writes it`, {
      cause: error,
    })
  }
  const { verdict, text } = told ?? {}
  if (typeof verdict === 'string' && Object.hasOwn(exitCodes, verdict) && typeof text === 'string')
    return { verdict: verdict as Verdict, text }
  throw new InvalidArgument(`${file} is no report of ${command} that this version reads`)
}
