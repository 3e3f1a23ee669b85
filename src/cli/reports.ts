import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { htmlReport } from '../report/html/document.ts'
import { type Mutants, parseMutants } from '../report/html/mutants.ts'
import { jsonReport } from '../report/json.ts'
import { junitReport } from '../report/junit.ts'
import { markdownReport } from '../report/markdown.ts'
import type { Report } from '../report/report.ts'
import { write } from './files.ts'

/** Where each report of `simulate` lies in its directory. */
export const reportFiles = {
  json: 'simulate.json',
  markdown: 'simulate.md',
  junit: 'simulate.xml',
  html: 'simulate.html',
} as const

/** Writes all reports; `again` is the command that makes them again. */
export function writeReports(directory: string, report: Report, again: string): void {
  const at = (name: string): string => path.join(directory, name)
  write(at(reportFiles.json), `${jsonReport(report)}\n`)
  write(at(reportFiles.markdown), markdownReport(report, again))
  write(at(reportFiles.junit), junitReport(report))
  write(at(reportFiles.html), htmlReport(report, again, mutantsIn(directory)))
}

/** What `npm run mutants -- --json` left beside the reports; null if there is nothing that can be read. */
function mutantsIn(directory: string): Mutants | null {
  const file = path.join(directory, 'mutants.json')
  if (!existsSync(file)) return null
  try {
    return parseMutants(readFileSync(file, 'utf8'))
  } catch (error) {
    process.stderr.write(`${file} is left out of the report: ${String(error)}\n`)
    return null
  }
}
