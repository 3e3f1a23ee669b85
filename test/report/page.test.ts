// The page in a real browser: what hostile names do there, and whether one can walk through a run by keys alone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HistoryEvent } from '../../src/engine/history.ts'
import { htmlReport } from '../../src/report/html/document.ts'
import { exploreHtml } from '../../src/report/html/explore.ts'
import { type Page, chromium, openPage } from './browser.ts'
import {
  counterexample,
  exploreReportOf,
  exploredOf,
  failureOf,
  reportOf,
  resultOf,
  started,
  summaryOf,
} from './samples.ts'

const command = chromium()
const shrunk = { faults: 61, steps: 9, runs: 214, wallMs: 3_100, minimal: true, also: [] }

/** A run of a job on two nodes, among others, in which everything that others can name has that name. */
function pageNamed(name: string, job: string, more: number): string {
  const place = (atMs: number, node = 'w1') => ({ atMs, node, incarnation: 1 })
  const lease = { job, epoch: 1 }
  const story: HistoryEvent[] = [
    { type: 'node.started', queues: { [name]: 1 }, kinds: [name], ...place(0) },
    { type: 'fault.struck', fault: name, family: 'pause', call: name, forMs: 900, ...place(100, 'env') },
    started(job, 1_000),
    { type: 'node.paused', forMs: 500, ...place(1_200) },
    { type: 'node.resumed', ...place(1_700) },
    { type: 'lease.renewed', ...lease, ...place(1_800) },
    { type: 'observer.failed', message: name, ...place(1_850) },
    ...Array.from({ length: more }, (_, k) => started(`other-${k}`, 1_900 + k, k % 2 ? 'w1' : name)),
    { type: 'node.crashed', ...place(5_000, 'w2') },
    { type: 'job.reclaimed', ...lease, evictions: 1, state: 'queued', ...place(6_000, 'w2') },
  ]
  const about = { property: name, kind: 'k', on: 'job.reclaimed', subject: job, message: name }
  const result = resultOf({
    scenario: name,
    violations: [{ ...about, atMs: 6_000, event: 0 }],
    plan: [{ id: name, family: 'pause', atMs: 5, node: name }],
    shrunk: { ...shrunk, also: [name], passing: { lacks: name, story: story.slice(0, 5) } },
    story,
  })
  const failure = failureOf({ scenario: name, message: name, property: name, result })
  const summary = summaryOf({ failures: [failure], scenarios: { [name]: 1 }, faults: { [name]: 3 } })
  const replays = [{ seed: failure.seed, property: name, path: `reports/${name}` }]
  const report = reportOf({
    verdict: 'violated',
    summary,
    replays,
    module: name,
    store: name,
    reasons: [name],
  })
  const mutant = { id: name, killed: true, property: name, seeds: 1, wallMs: 1 }
  return htmlReport(report, name, { mutants: { mutants: [mutant], survivors: [name] } })
}

const live: readonly (readonly [string, string])[] = [
  ['an end of the script', '</script><script>window.pwned=1</script>'],
  ['an attribute', `" onmouseover="window.pwned=1" x='`],
  ['an image', `<img src=https://evil.example/x onerror="window.pwned=1">`],
  ['a comment that opens a script', '<!--<script>window.pwned=1'],
  ['an entity', '&lt;script&gt;window.pwned=1&lt;/script&gt;'],
  ['a NUL', 'nul\u0000nul'],
  ['reversed text', '\u202egnp.exe'],
  ['half a character', 'half \ud800 of it'],
  ['an import of a style', '</style><style>@import "https://evil.example/x.css"</style>'],
  ['a line of a megabyte', 'x'.repeat(1 << 20)],
]

describe.skipIf(command === undefined)('the page in Chromium (skipped where there is none)', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'holdfast-page-'))
  let page: Page
  beforeAll(async () => {
    page = await openPage(command ?? '')
  }, 60_000)
  afterAll(async () => {
    await page.close()
    rmSync(home, { recursive: true, force: true })
  })

  /** Opens it, and answers what it asked for beside itself, and what it complained of. */
  async function opened(text: string): Promise<{ asked: readonly string[]; complaints: readonly string[] }> {
    const file = path.join(home, 'simulate.html')
    writeFileSync(file, text)
    const url = pathToFileURL(file).href
    const before = [page.requests.length, page.complaints.length]
    await page.open(url)
    const asked = page.requests.slice(before[0]).filter((request) => request !== url && request !== 'data:,')
    return { asked, complaints: page.complaints.slice(before[1]) }
  }

  const selected = `document.querySelector('.event[aria-selected=true]')?.textContent`

  test.each(live)('with %s in every field is whole and inert (X03)', async (_, name) => {
    const seen = await opened(pageNamed(name, name, 20))
    expect(seen).toEqual({ asked: [], complaints: [] })
    expect(await page.value('window.pwned ?? "inert"')).toBe('inert')
    expect(
      await page.value(`document.querySelectorAll('img, iframe, [onerror], [onmouseover]').length`),
    ).toBe(0)
    expect(await page.value(`document.scripts.length`)).toBe(2)
    expect(await page.value(selected)).toContain('takes back')
    for (const show of ['.detail', '.list', '.timeline']) {
      const text = await page.value<string>(`document.querySelector('${show}').textContent`)
      for (const mark of ['\u0000', '\u202e']) expect(text).not.toContain(mark)
    }
  })

  /** What `explore` tells of one topology that holds and one that does not, both of that name. */
  function explored(name: string): string {
    const holds = exploredOf({ topology: { ...exploredOf().topology, name, says: name } })
    const report = exploreReportOf(counterexample(name), holds)
    return exploreHtml({ ...report, module: name, reasons: [name] }, name)
  }

  test.each(live)('of explore with %s in every field is whole and inert (X03)', async (_, name) => {
    const seen = await opened(explored(name))
    expect(seen).toEqual({ asked: [], complaints: [] })
    expect(await page.value('window.pwned ?? "inert"')).toBe('inert')
    expect(
      await page.value(`document.querySelectorAll('img, iframe, [onerror], [onmouseover]').length`),
    ).toBe(0)
    expect(await page.value(`document.scripts.length`)).toBe(2)
    expect(await page.value(`document.querySelectorAll('.space svg rect').length`)).toBe(7)
    expect(await page.value(`document.querySelector('.list').textContent`)).toContain('starts the handler')
  })

  test('of explore has a timeline that is walked through by keys, and links that lead somewhere', async () => {
    await opened(explored('small'))
    await page.value(`document.querySelector('.list').focus()`)
    await page.press('Home')
    expect(await page.value(selected)).toContain('+1.000')
    const dead = `[...document.querySelectorAll('a')].filter((a) => !document.querySelector(a.getAttribute('href'))).length`
    expect(await page.value(dead)).toBe(0)
    // A topology that is folded is shown to whoever follows a link to it.
    const followed = `new Promise((done) => {
      const details = document.querySelector('#topology-2')
      details.open = false
      addEventListener('hashchange', () => done(details.open), { once: true })
      document.querySelector('a[href="#topology-2"]').click()
    })`
    expect(await page.value(followed)).toBe(true)
  })

  test.each([390, 1280])('of explore, %d wide, has nothing that sticks out', async (width) => {
    await page.resize(width, 900)
    await opened(explored('small'))
    expect(await page.value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })

  test('runs nothing that is not its own: the policy complains', async () => {
    const own = pageNamed('plain', 'j7', 3)
    const seen = await opened(
      own.replace('</main>', '<script>window.pwned=1</script><img src="https://evil.example/"></main>'),
    )
    expect(seen.complaints.length).toBeGreaterThan(0)
    expect(await page.value('window.pwned ?? "inert"')).toBe('inert')
  })

  test('is walked through by keys: the list, the timeline and the event go together', async () => {
    await opened(pageNamed('plain', 'j7', 300))
    await page.value(`document.querySelector('.list').focus()`)
    await page.press('ArrowUp')
    expect(await page.value(selected)).toContain('the process dies')
    await page.press('Home')
    expect(await page.value(selected)).toContain('process 1 starts')
    expect(JSON.parse(await page.value(`document.querySelector('.detail').textContent`))).toMatchObject({
      type: 'node.started',
    })
    expect(await page.value(`document.querySelectorAll('line.selected').length`)).toBe(1)
    await page.value(`document.querySelector('.timeline').focus()`)
    await page.press('ArrowRight')
    expect(await page.value(selected)).toContain('FAULT plain')
  })

  test('is filtered: by words, by the subject, by node', async () => {
    await opened(pageNamed('plain', 'j7', 300))
    const shown = `document.querySelector('.controls output').textContent`
    const type = (selector: string, how: string): Promise<void> =>
      page.value(
        `{ const e = document.querySelector('${selector}'); ${how}; e.dispatchEvent(new Event('input')) }`,
      )
    expect(await page.value(shown)).toBe('309 of 309 events')
    await type('.controls input[type=search]', `e.value = 'OTHER-1 starts'`)
    expect(await page.value(shown)).toBe('111 of 309 events')
    await type('.controls select', `e.value = 'w1'`)
    expect(await page.value(shown)).toBe('56 of 309 events')
    await type('.controls input[type=search]', `e.value = ''`)
    await type('.controls input[type=checkbox]', `e.checked = true`)
    expect(await page.value(shown)).toBe('2 of 309 events')
  })

  test('shows a mark for each claim of the subject on its lane, strong, and others faint', async () => {
    await opened(pageNamed('plain', 'j7', 30))
    const count = (what: string): Promise<number> => page.value(`document.querySelectorAll('${what}').length`)
    expect(await count('.timeline .mark.reclaim.strong')).toBe(1)
    expect(await count('.timeline .mark.renew.strong')).toBe(1)
    expect(await count('.timeline .bar.pause')).toBe(1)
    expect(await count('.timeline .bar.fault')).toBe(1)
    expect(await count('.timeline .bar.handler.strong')).toBe(1)
    expect(await count('.timeline .bar.handler.faint')).toBeGreaterThan(5)
    expect(await page.value(`[...document.querySelectorAll('.label')].map((e) => e.textContent)`)).toEqual([
      'faults',
      'database',
      'plain',
      'w1',
      'w2',
    ])
  })

  test('makes only the rows in sight, of however many', async () => {
    await opened(pageNamed('plain', 'j7', 20_000))
    await page.value(`document.querySelector('.list').focus()`)
    for (const key of ['End', 'Home']) {
      await page.press(key)
      expect(await page.value(`document.querySelectorAll('.event').length`)).toBeLessThan(60)
    }
    expect(await page.value(`document.querySelector('.explorer').textContent`)).toContain(
      'Left out, as farthest from the failure',
    )
  })

  test.each([390, 1280])('%d wide has nothing that sticks out', async (width) => {
    await page.resize(width, 900)
    await opened(pageNamed('plain', 'j7', 30))
    expect(await page.value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })
})
