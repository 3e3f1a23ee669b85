// Runs the built command in a folder of its own.
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A folder that is gone after the tests; reports are written into it. */
export interface Desk {
  readonly directory: string
  readonly run: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>
  /** A line of a shell, with `npx holdfast` being our command. */
  readonly shell: (line: string) => Promise<Ended>
  readonly replays: () => string[]
  readonly read: (file: string) => string
  readonly clear: () => void
}

export function desk(): Desk {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  const options = (env: Readonly<Record<string, string>> = {}) => ({
    cwd: directory,
    encoding: 'utf8' as const,
    maxBuffer: 2 ** 28,
    env: { ...process.env, ...env },
  })
  const started = (file: string, args: readonly string[], env?: Readonly<Record<string, string>>) =>
    new Promise<Ended>((resolve) => {
      execFile(file, args, options(env), (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : null) : 0
        resolve({ code, stdout, stderr })
      })
    })
  const failures = path.join(directory, 'reports', 'failures')
  return {
    directory,
    run: (args, env) => started(process.execPath, [main, ...args], env),
    shell: (line) =>
      started('bash', ['-c', `npx() { shift; '${process.execPath}' '${main}' "$@"; }; ${line}`]),
    replays: () =>
      existsSync(failures) ? readdirSync(failures).map((name) => path.join(failures, name)) : [],
    read: (file) => readFileSync(path.join(directory, file), 'utf8'),
    clear: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** A module with scenarios for tests. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/scenarios/${name}.mjs`, import.meta.url))
}

/** The number (from 1) of the only line of a file that has this text. */
export function lineWith(file: string, text: string): number {
  const lines = readFileSync(file, 'utf8').split('\n')
  const at = lines.findIndex((line) => line.includes(text))
  if (at < 0) throw new TypeError(`${file} has no line with ${text}`)
  return at + 1
}

/** Starts the command, reads one line, closes the pipe; answers the code and what stderr said. */
export function readOneLine(args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    let stdout = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      child.stdout.destroy()
    })
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}
