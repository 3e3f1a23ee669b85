// Explores topologies to their own bounds, and the lone one with two workers too: what takes too long for each change.
// Each that was explored replaces its entry in docs/verified.json.
//
//   npm run verify:long [-- NAME...]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { topologies } from '../dist/sim/explore/topologies/index.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = path.join(root, 'docs/verified.json')
const scratch = mkdtempSync(path.join(tmpdir(), 'holdfast-verify-'))

/** @type {Map<string, readonly string[]>} What is asked of the command, by the name of the entry. */
const asked = new Map()
for (const { name } of topologies) asked.set(name, ['--scenario', name])
asked.set('lone-of-two', ['--scenario', 'lone', '--workers', '2', '--states', '16000000'])

/** @param {readonly string[]} args */
function explored(args) {
  const command = [path.join(root, 'dist/cli/main.js'), 'explore', ...args, '--report', scratch]
  const { status } = spawnSync(process.execPath, command, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exitCode = 1
  const {
    version,
    engine,
    verdict,
    topologies: all,
  } = JSON.parse(readFileSync(path.join(scratch, 'explore.json'), 'utf8'))
  const { bound, complete, states, distinct, pruned, runs, replayed, depthMax, wallMs, properties } = all[0]
  const counts = { states, distinct, pruned, runs, replayed, depthMax, wallMs }
  return { version, engine, args, verdict, complete, bound, ...counts, properties }
}

try {
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const names = process.argv.length > 2 ? process.argv.slice(2) : [...asked.keys()]
  for (const name of names) {
    const args = asked.get(name)
    if (!args) throw new RangeError(`there is no ${name}; there are ${[...asked.keys()].join(', ')}`)
    known[name] = explored(args)
    writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
