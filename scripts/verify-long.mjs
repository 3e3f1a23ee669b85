// Explores every topology to its own bound, and the lone one with two workers too: what takes too long for each change.
// Writes what was proven, with this machine's speed, into docs/verified.json.
//
//   npm run verify:long
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const scratch = mkdtempSync(path.join(tmpdir(), 'holdfast-verify-'))
const runs = [[], ['--scenario', 'lone', '--workers', '2', '--jobs', '1', '--states', '16000000']]

/** @param {readonly string[]} args */
function explored(args) {
  const command = [path.join(root, 'dist/cli/main.js'), 'explore', ...args, '--report', scratch]
  const { status } = spawnSync(process.execPath, command, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exitCode = 1
  return { args, ...JSON.parse(readFileSync(path.join(scratch, 'explore.json'), 'utf8')) }
}

try {
  const verified = runs.map(explored)
  writeFileSync(path.join(root, 'docs/verified.json'), `${JSON.stringify(verified, null, 2)}\n`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
