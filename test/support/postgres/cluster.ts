import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Binaries } from './binaries.ts'

/** A server of our own on the loopback, with its data in a temporary directory. */
export interface Cluster {
  readonly directory: string
  /** Its first line is the process id of the server. */
  readonly pidFile: string
  readonly url: (database: string) => string
  readonly start: () => Promise<void>
  /** Every connection ends at once; what was committed stays. */
  readonly stop: () => Promise<void>
  /** From the next start on it follows nobody and takes no writes, until `promote`. */
  readonly becomeStandby: () => void
  readonly promote: () => Promise<void>
}

export interface ClusterOptions {
  /** What it has committed survives `kill -9` of its processes. No test pulls the plug of a machine. Default false. */
  readonly durable?: boolean
  readonly settings?: readonly string[]
}

export async function createCluster(
  binaries: Binaries,
  { durable = false, settings = [] }: ClusterOptions = {},
): Promise<Cluster> {
  const owner = ownerOf()
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-pg-'))
  chmodSync(directory, 0o700)
  if (owner) chownSync(directory, owner.uid, owner.gid)
  const env = binaries.env(directory)
  const data = path.join(directory, 'data')
  const port = await freePort()

  /** Not in one go: whoever starts a server may have its clients, or a proxy before it, in this very process. */
  async function run(program: string, ...args: string[]): Promise<void> {
    const child = spawn(path.join(binaries.directory, program), args, {
      env,
      cwd: directory,
      stdio: 'ignore',
      ...owner,
    })
    const [status] = (await once(child, 'exit')) as [number | null]
    if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${status}${logOf(directory)}`)
  }

  const options = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    "unix_socket_directories=''",
    'max_connections=200',
    'autovacuum_naptime=60',
    'fsync=off',
    'full_page_writes=off',
    `synchronous_commit=${durable ? 'on' : 'off'}`,
    ...settings,
  ]
  const pidFile = path.join(data, 'postmaster.pid')
  const start = (): Promise<void> => {
    const flags = options.map((option) => `-c ${option}`).join(' ')
    return run('pg_ctl', '-D', data, '-l', path.join(directory, 'log'), '-o', flags, '-w', 'start')
  }
  const stop = (): Promise<void> => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')

  await run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync')
  await start()
  return {
    directory,
    pidFile,
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    start,
    stop,
    becomeStandby: () => writeFileSync(path.join(data, 'standby.signal'), ''),
    promote: () => run('pg_ctl', '-D', data, '-w', 'promote'),
  }
}

/** PostgreSQL will not run as root: somebody without rights does it then. */
export function ownerOf(): { readonly uid: number; readonly gid: number } | null {
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

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
