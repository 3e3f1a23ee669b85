// Replay files of failures that were found once, each of which must pass from now on.
//
// To add one: copy the file that `simulate` left in reports/failures into this folder, and give it a name that says
// what was wrong. Commit it with the fix: before it the test is red, after it green. A scenario of a module is found
// by the path in the file, from the root of the repository.
//
// What is replayed is the seed with the plan of its faults, not the list of its choices: an engine that does the right
// thing makes others. So the list may be emptied ("draws": []), which keeps the file small.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { scenariosIn } from '../../src/sim/catalogue.ts'
import { type Judged, judge } from '../../src/sim/judge.ts'
import { type ReplayFile, parseReplay } from '../../src/sim/replay.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = path.join(here, '../..')
const files = readdirSync(here).filter((name) => name.endsWith('.json'))

/** What became of a recorded run, on this engine. */
async function again({ seed, scenario, store, plan, without, file }: ReplayFile): Promise<Judged> {
  const module = file === null ? null : pathToFileURL(path.join(root, file)).href
  return judge(
    {
      seed,
      scenario,
      // The same statements, without a server.
      store: store === 'postgres' ? 'pglite' : store,
      families: null,
      verify: false,
      story: false,
      plan,
      without,
      draws: null,
    },
    await scenariosIn(module),
    {},
  )
}

describe('what failed once passes for ever', () => {
  test('there is something to replay, and every file of the folder is a replay file', () => {
    expect(files.length).toBeGreaterThan(0)
    for (const name of files)
      expect(() => parseReplay(readFileSync(path.join(here, name), 'utf8'))).not.toThrow()
  })

  test.each(files)('%s', { timeout: 120_000 }, async (name) => {
    const file = parseReplay(readFileSync(path.join(here, name), 'utf8'))
    const { verdict, violations, detail, strikes } = await again(file)
    const said = violations[0] ? `${violations[0].property}: ${violations[0].message}` : detail
    expect([verdict, said]).toEqual(['pass', null])
    // A run in which nothing struck any more would prove nothing.
    expect(Object.keys(strikes).length > 0).toBe(file.plan.length > 0)
  })
})
