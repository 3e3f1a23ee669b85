// Builds src into dist: removes what an earlier build left, compiles, and makes the command executable.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status === 0 && existsSync(command)) chmodSync(command, 0o755)
process.exitCode = status ?? 1
