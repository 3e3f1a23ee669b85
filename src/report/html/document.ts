import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Report } from '../report.ts'
import { failuresSection } from './failure.ts'
import { type Html, html, nothing, raw } from './markup.ts'
import { matrixSection } from './matrix.ts'
import { type Mutants, mutantsSection } from './mutants.ts'
import { saturationSection } from './saturation.ts'
import { headSection, ranSection } from './summary.ts'

/**
 * The report as one page that needs nothing else: no request leaves it, and its policy lets no script run but its own.
 * `again` is the command that makes the report again; `mutants` what was found of planted bugs, if anybody looked.
 */
export function htmlReport(report: Report, again: string, mutants: Mutants | null = null): string {
  const style = asset('style.css')
  const script = ['model.js', 'timeline.js', 'list.js', 'controls.js', 'explorer.js'].map(asset).join('\n')
  const policy = `default-src 'none'; style-src '${digest(style)}'; script-src '${digest(script)}'; img-src data:; base-uri 'none'; form-action 'none'`
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>holdfast ${report.command}: ${report.verdict}</title>
<style>${raw(style)}</style></head>
<body><main>
${headSection(report)}
${contents(report, mutants)}
${failuresSection(report)}
${ranSection(report, again)}
${matrixSection(report)}
${saturationSection(report)}
${mutantsSection(mutants)}
</main><script>${raw(script)}</script></body></html>
`.markup
}

function contents({ summary }: Report, mutants: Mutants | null): Html {
  return html`<nav aria-label="contents">${summary.failures.length > 0 ? html`<a href="#failures">Failures</a>` : nothing}
<a href="#ran">What ran</a><a href="#matrix">Invariants</a><a href="#sometimes">Interesting events</a>${summary.coverage.behaviours > 0 ? html`<a href="#saturation">Saturation</a>` : nothing}${mutants ? html`<a href="#mutants">Mutants</a>` : nothing}</nav>`
}

function asset(name: string): string {
  return readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8')
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
