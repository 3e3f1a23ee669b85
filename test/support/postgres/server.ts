import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { anyBinaries } from './binaries.ts'
import { createCluster } from './cluster.ts'
import { placeName, stopShared } from './shared.ts'
import { killAll, signalAll } from './signals.ts'

/**
 * A PostgreSQL of one test's own, to be treated badly: killed, frozen, restarted, made read-only. It is made of
 * the installed or embedded programs, wherever the shared server comes from, takes a second to make, and keeps its
 * port and its data through everything. What it has committed survives a kill.
 *
 *     const server = await ownServer()
 *     const store = postgresStore({ connectionString: server.url })
 *     await server.kill()      // kill -9 of all its processes: sockets are reset, the port refuses
 *     await server.start()     // up again when it resolves: crash recovery is done, writes are taken
 *     server.freeze()          // SIGSTOP of all its processes: sockets stay open, nothing answers
 *     server.thaw()            // SIGCONT: what was sent meanwhile is carried out
 *     await server.restart()   // ends every connection, and is back
 *     await server.readOnly(true)   // 25006 for writes, on the connections that there are
 *     await server.standby()   // a restart into a standby: 25006 for writes, and for locks of rows too
 *     await server.promote()   // the standby takes writes again, on the connections that there are
 *     await server.remove()    // in a `finally` or `afterAll`; what a test forgets, the end of the run removes
 */
export interface OwnServer {
  /** Of the database `postgres`, as its superuser. */
  readonly url: string
  kill(): Promise<void>
  start(): Promise<void>
  restart(): Promise<void>
  freeze(): void
  thaw(): void
  readOnly(on: boolean): Promise<void>
  standby(): Promise<void>
  promote(): Promise<void>
  remove(): Promise<void>
}

/** `settings` are `name=value`, as on the command line of the server. */
export async function ownServer(settings: readonly string[] = []): Promise<OwnServer> {
  const cluster = await createCluster(anyBinaries(), { durable: true, settings })
  const { directory, pidFile, start, stop } = cluster
  const url = cluster.url('postgres')
  const note = noteOf({ url, own: { pidFile, directory } })

  return {
    url,
    start,
    kill: () => killAll(pidFile),
    restart: async () => {
      await stop()
      await start()
    },
    freeze: () => void signalAll(pidFile, 'SIGSTOP'),
    thaw: () => void signalAll(pidFile, 'SIGCONT'),
    readOnly: async (on) => {
      const change = on
        ? 'alter system set default_transaction_read_only = on'
        : 'alter system reset default_transaction_read_only'
      await reconfigured(url, change, on ? 'on' : 'off')
    },
    standby: async () => {
      await stop()
      cluster.becomeStandby()
      await start()
    },
    promote: cluster.promote,
    remove: async () => {
      await stopShared(readFileSync(note, 'utf8'))
      rmSync(note)
    },
  }
}

/** A new connection has the setting once the server has read it; the others have it by their next statement then. */
async function reconfigured(url: string, change: string, expected: string): Promise<void> {
  for (const text of [change, 'select pg_reload_conf()']) await once(url, text)
  while ((await once(url, 'show default_transaction_read_only')) !== expected);
}

async function once(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

const prefix = 'own-'

/** For the end of the run, which removes the servers that a test has left behind. */
function noteOf(started: Parameters<typeof JSON.stringify>[0]): string {
  const place = process.env[placeName]
  if (place === undefined) throw new Error('the global set-up of the tests did not run')
  const note = path.join(mkdtempSync(path.join(place, prefix)), 'started.json')
  writeFileSync(note, JSON.stringify(started))
  return note
}

export async function removeForgotten(place: string): Promise<void> {
  for (const name of readdirSync(place)) {
    const note = path.join(place, name, 'started.json')
    if (name.startsWith(prefix) && existsSync(note)) await stopShared(readFileSync(note, 'utf8'))
  }
}
