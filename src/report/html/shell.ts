import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html, raw } from './markup.ts'

/** One page that needs nothing else: no request leaves it, and its policy lets no script run but its own. */
export function pageOf(title: string, sections: readonly Html[]): string {
  const style = asset('style.css')
  const script = ['model.js', 'timeline.js', 'list.js', 'controls.js', 'explorer.js'].map(asset).join('\n')
  const policy = `default-src 'none'; style-src '${digest(style)}'; script-src '${digest(script)}'; img-src data:; base-uri 'none'; form-action 'none'`
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${raw(style)}</style></head>
<body><main>
${sections}
</main><script>${raw(script)}</script></body></html>
`.markup
}

function asset(name: string): string {
  return readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8')
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
