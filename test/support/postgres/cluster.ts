import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Binaries } from './binaries.ts'

/** A server of our own on the loopback, with its data in a temporary directory. */
export interface Cluster {
  readonly directory: string
  readonly url: (database: string) => string
  readonly start: () => void
  readonly stop: () => void
  /** Stops it and removes its data. */
  readonly remove: () => void
}

/** No data of a test outlives it, so nothing waits for a disk; a test of crashes asks for what a real server does. */
const careless = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

export async function createCluster(
  binaries: Binaries,
  {
    durable = false,
    settings = [],
  }: { readonly durable?: boolean; readonly settings?: readonly string[] } = {},
): Promise<Cluster> {
  const owner = ownerOf()
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-pg-'))
  chmodSync(directory, 0o700)
  if (owner) chownSync(directory, owner.uid, owner.gid)
  const env = binaries.env(directory)
  const data = path.join(directory, 'data')
  const port = await freePort()

  function run(program: string, ...args: string[]): SpawnSyncReturns<string> {
    const result = spawnSync(path.join(binaries.directory, program), args, {
      encoding: 'utf8',
      env,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...owner,
    })
    if (result.status !== 0) {
      throw new Error(`${program} failed: ${result.error?.message ?? result.stderr}${logOf(directory)}`)
    }
    return result
  }

  const options = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    "unix_socket_directories=''",
    'max_connections=200',
    'autovacuum_naptime=60',
    ...(durable ? [] : careless),
    ...settings,
  ]
  const start = (): void => {
    const flags = options.map((option) => `-c ${option}`).join(' ')
    run('pg_ctl', '-D', data, '-l', path.join(directory, 'log'), '-o', flags, '-w', 'start')
  }
  const stop = (): void => void run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')

  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync')
  start()
  return {
    directory,
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    start,
    stop,
    remove: () => {
      try {
        stop()
      } finally {
        rmSync(directory, { recursive: true, force: true })
      }
    },
  }
}

/** PostgreSQL will not run as root: somebody without rights does it then. */
function ownerOf(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find(([name]) => name === wanted) ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody')
}

function logOf(directory: string): string {
  try {
    return `\n${readFileSync(path.join(directory, 'log'), 'utf8').slice(-2_000)}`
  } catch {
    return ''
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
