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

/** Prints what `simulate` printed when it wrote that directory; answers the exit code that it ended with. */
export async function report(directory: string, { open = false }: ReportOptions): Promise<number> {
  const { verdict, text } = read(path.join(directory, reportFiles.json))
  const page = path.join(directory, reportFiles.html)
  const paged = existsSync(page)
  if (open && !paged) throw new InvalidArgument(`there is no ${page}: run simulate first`)
  process.stdout.write(`${text.trimEnd().split('\n').map(inert).join('\n')}\n`)
  if (paged) process.stdout.write(`\n${inert(path.resolve(page))}\n`)
  if (open) await openFile(path.resolve(page))
  return exitCodes[verdict]
}

function read(file: string): { readonly verdict: Verdict; readonly text: string } {
  let told: { readonly verdict?: unknown; readonly text?: unknown } | null
  try {
    told = JSON.parse(readFileSync(file, 'utf8')) as typeof told
  } catch (error) {
    throw new InvalidArgument(`${file} cannot be read: ${String(error)}; simulate writes it`, {
      cause: error,
    })
  }
  const { verdict, text } = told ?? {}
  if (typeof verdict === 'string' && Object.hasOwn(exitCodes, verdict) && typeof text === 'string')
    return { verdict: verdict as Verdict, text }
  throw new InvalidArgument(`${file} is no report of simulate that this version reads`)
}
