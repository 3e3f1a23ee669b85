// Builds src into dist. The new build takes the old one's place only when it is whole: a build that fails
// leaves what was there, and whoever runs the package meanwhile never finds half of it.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = path.join(root, 'dist')
const made = `${dist}.${process.pid}.new`
const old = `${dist}.${process.pid}.old`
const page = 'report/html/page'
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', made], {
  cwd: root,
  stdio: 'inherit',
})
if (status === 0) {
  const command = path.join(made, 'cli/main.js')
  if (existsSync(command)) chmodSync(command, 0o755)
  // What runs in a browser is plain JavaScript that no compiler touches.
  cpSync(path.join(root, 'src', page), path.join(made, page), { recursive: true })
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(made, dist)
}
for (const left of [made, old]) rmSync(left, { recursive: true, force: true })
process.exitCode = status ?? 1
