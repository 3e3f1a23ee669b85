// Sums up what vitest wrote as JSON, and fails if a test failed, if none ran, or if tests that need a PostgreSQL did
// not run: a run that skipped them has tested next to nothing of it, and must not look like one that passed.
//
//   node scripts/tests-ran.mjs --list                    the test files that use a server
//   node scripts/tests-ran.mjs RESULT.json...            judges; each result must have run all of those
//     --may-skip FILE                                    but this one
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** @typedef {{ status: string }} Assertion */
/** @typedef {{ name: string, status: string, assertionResults: Assertion[] }} FileResult */
/** @typedef {{ testResults: FileResult[], success?: boolean }} Result */

const root = fileURLToPath(new URL('..', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    'may-skip': { type: 'string', multiple: true, default: [] },
  },
})

if (values.list) console.log(onServer().join('\n'))
else process.exitCode = judge(positionals, new Set(values['may-skip'])) ? 0 : 1

/** Those that import what starts a server, and are about it: what only works on one is tried on one release. */
function onServer() {
  return readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.posix.join('test', file.split(path.sep).join('/')))
    .filter((file) => !['test/examples/', 'test/sim/'].some((directory) => file.startsWith(directory)))
    .filter((file) => /from '[./]+support\/postgres\//.test(readFileSync(path.join(root, file), 'utf8')))
    .sort()
}

/** @param {string[]} files @param {Set<string>} maySkip */
function judge(files, maySkip) {
  const results = files.map(read)
  const all = results.flatMap(({ testResults }) => testResults)
  const statuses = all.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
  const passed = statuses.filter((status) => status === 'passed').length
  // A file that could not be loaded, or set up, has no test that failed, so it is counted as one failure itself.
  const broken = all.filter(
    (of) => of.status === 'failed' && of.assertionResults.every(({ status }) => status !== 'failed'),
  ).length
  const failed = statuses.filter((status) => status === 'failed').length + broken
  const missing = results.flatMap((result, n) =>
    missingIn(result, maySkip).map((file) => `${file} (${files[n]})`),
  )
  for (const file of missing) console.error(`no test on a PostgreSQL ran: ${file}`)
  if (passed + failed === 0) console.error('no test ran: this is a failure')
  console.log(`${passed} passed, ${failed} failed, ${statuses.length + broken - passed - failed} skipped`)
  const whole = results.length > 0 && results.every(({ success }) => success === true)
  return whole && passed > 0 && failed === 0 && missing.length === 0
}

/** @param {string} file @returns {Result} */
function read(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { testResults: [] }
}

/** @param {Result} result @param {Set<string>} maySkip */
function missingIn({ testResults }, maySkip) {
  const ran = new Set(
    testResults
      .filter(({ assertionResults }) => assertionResults.some(({ status }) => status === 'passed'))
      .map(({ name }) => path.relative(root, name).split(path.sep).join('/')),
  )
  return onServer().filter((file) => !ran.has(file) && !maySkip.has(file))
}
