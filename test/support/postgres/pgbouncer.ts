import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, ownerOf } from './cluster.ts'

/** A PgBouncer in transaction mode before a database. */
export interface PgBouncer {
  readonly url: string
  stop(): Promise<void>
}

/** Where it is installed, or null: then its tests are skipped. CI installs it. */
export function pgBouncerBinary(): string | null {
  const places = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin']
  return places.map((place) => path.join(place, 'pgbouncer')).find((file) => existsSync(file)) ?? null
}

/** From 1.21 on it can be told to track prepared statements. */
export function canTrack(binary: string): boolean {
  const [, minor] = /PgBouncer 1\.(\d+)/.exec(execFileSync(binary, ['--version'], { encoding: 'utf8' })) ?? []
  return Number(minor) >= 21
}

export async function startPgBouncer(
  binary: string,
  target: string,
  poolSize: number,
  settings: readonly string[] = [],
): Promise<PgBouncer> {
  const to = new URL(target)
  const database = to.pathname.slice(1)
  const port = await freePort()
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-bouncer-'))
  chmodSync(directory, 0o755)
  const config = path.join(directory, 'pgbouncer.ini')
  const password = to.password === '' ? '' : ` password=${decodeURIComponent(to.password)}`
  writeFileSync(
    config,
    `[databases]
${database} = host=${to.hostname} port=${to.port || 5432} dbname=${database} user=${to.username}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
${settings.join('\n')}
`,
  )
  const child = spawn(binary, [config], { stdio: ['ignore', 'ignore', 'pipe'], ...ownerOf() })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (log += text))
  await listening(child, port, () => log)
  return {
    url: `postgres://${to.username}@127.0.0.1:${port}/${database}`,
    stop: async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function listening(child: ChildProcess, port: number, log: () => string): Promise<void> {
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${log()}`)
    await delay(20)
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
