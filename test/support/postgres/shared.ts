import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { anyBinaries } from './binaries.ts'
import { createCluster } from './cluster.ts'
import { dockerAnswers, dockerServer } from './docker.ts'
import { quit } from './signals.ts'

/**
 * One server for all test files of a run. The first file that needs it starts it, the others wait, and the global
 * set-up stops it. Which one: `DATABASE_URL`, else Docker, else what is installed, else the embedded one; or the
 * one that `HOLDFAST_POSTGRES` names (url, docker, system, embedded). That there is none is a failure.
 */
export const placeName = 'HOLDFAST_TEST_PLACE'

interface Started {
  readonly url: string
  /** A server of ours, to be stopped, and its directory removed. */
  readonly own: { readonly pidFile: string; readonly directory: string } | null
}

let shared: Promise<string> | null = null

/** The URL of a database of the shared server, from which others can be made. */
export function sharedServer(): Promise<string> {
  shared ??= join()
  return shared
}

async function join(): Promise<string> {
  const place = process.env[placeName]
  if (place === undefined) throw new Error('the global set-up of the tests did not run')
  const [started, failed] = ['started.json', 'failed.txt'].map((name) => path.join(place, name)) as [
    string,
    string,
  ]
  try {
    mkdirSync(path.join(place, 'starting'))
  } catch {
    while (!existsSync(started)) {
      if (existsSync(failed)) throw new Error(readFileSync(failed, 'utf8'))
      await delay(20)
    }
    return (JSON.parse(readFileSync(started, 'utf8')) as Started).url
  }
  try {
    const server = await startShared()
    await requireMajor(server.url).catch(async (error: unknown) => {
      await stopShared(JSON.stringify(server))
      throw error
    })
    writeFileSync(`${started}.new`, JSON.stringify(server))
    renameSync(`${started}.new`, started)
    return server.url
  } catch (error) {
    writeFileSync(failed, `no PostgreSQL for the tests: ${String(error)}`)
    throw error
  }
}

async function startShared(): Promise<Started> {
  const wanted = process.env['HOLDFAST_POSTGRES']
  const url = process.env['DATABASE_URL']
  if (url !== undefined && (wanted ?? 'url') === 'url') return { url, own: null }
  if (wanted === 'docker' || (wanted === undefined && (await dockerAnswers()))) {
    return { ...(await dockerServer()), own: null }
  }
  const server = await createCluster(anyBinaries())
  const { directory, pidFile } = server
  return { url: server.url('postgres'), own: { pidFile, directory } }
}

/** `HOLDFAST_POSTGRES_MAJOR` says on which release the tests are meant to run: another would pass for it. */
async function requireMajor(url: string): Promise<void> {
  const wanted = process.env['HOLDFAST_POSTGRES_MAJOR']
  if (wanted === undefined) return
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ readonly server_version: string }>('show server_version')
  await client.end()
  const [version = ''] = rows.map(({ server_version }) => server_version)
  if (version.startsWith(`${wanted}.`)) return
  throw new Error(`the tests are to run on PostgreSQL ${wanted}, and this is ${version}`)
}

/** At the end of the run, by the process that set it up. */
export async function stopShared(json: string): Promise<void> {
  const { own } = JSON.parse(json) as Started
  if (!own) return
  await quit(own.pidFile)
  rmSync(own.directory, { recursive: true, force: true })
}
