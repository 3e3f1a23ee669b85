import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { exploreJson } from '../report/explore/json.ts'
import { exploreJunit } from '../report/explore/junit.ts'
import { exploreMarkdown } from '../report/explore/markdown.ts'
import type { ExploreReport } from '../report/explore/report.ts'
import { inertJson } from '../report/format.ts'
import { htmlReport } from '../report/html/document.ts'
import { parseExplorations } from '../report/html/explorations.ts'
import { exploreHtml } from '../report/html/explore.ts'
import { parseMutants } from '../report/html/mutants.ts'
import { jsonReport } from '../report/json.ts'
import { junitReport } from '../report/junit.ts'
import { markdownReport } from '../report/markdown.ts'
import type { Report } from '../report/report.ts'
import { write } from './files.ts'

/** Where each report of a command lies in its directory. */
export const reportFiles = {
  simulate: {
    json: 'simulate.json',
    markdown: 'simulate.md',
    junit: 'simulate.xml',
    html: 'simulate.html',
  },
  explore: {
    json: 'explore.json',
    markdown: 'explore.md',
    junit: 'explore.xml',
    html: 'explore.html',
  },
} as const

/** Writes all reports of `simulate`; `again` is the command that makes them again. */
export function writeReports(directory: string, report: Report, again: string): void {
  const { json, markdown, junit, html } = reportFiles.simulate
  const at = (name: string): string => path.join(directory, name)
  const mutants = beside(at('mutants.json'), parseMutants)
  const explored = beside(at(reportFiles.explore.json), parseExplorations)
  write(at(json), `${jsonReport(report)}\n`)
  write(at(markdown), markdownReport(report, again))
  write(at(junit), junitReport(report))
  write(at(html), htmlReport(report, again, { mutants, explored }))
}

/** The same of `explore`. */
export function writeExploreReports(directory: string, report: ExploreReport, again: string): void {
  const { json, markdown, junit, html } = reportFiles.explore
  const at = (name: string): string => path.join(directory, name)
  write(at(json), `${inertJson(exploreJson(report))}\n`)
  write(at(markdown), exploreMarkdown(report, again))
  write(at(junit), exploreJunit(report))
  write(at(html), exploreHtml(report, again))
}

/** What another command left beside the reports; null if there is nothing that can be read. */
function beside<Told>(file: string, parse: (text: string) => Told): Told | null {
  if (!existsSync(file)) return null
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    process.stderr.write(`${file} is left out of the report: ${String(error)}\n`)
    return null
  }
}
