import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Binaries, embeddedBinaries, systemBinaries } from './binaries.ts'
import { createCluster } from './cluster.ts'
import { dockerAnswers, dockerServer } from './docker.ts'

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
  const server = await createCluster(binaries())
  const { directory } = server
  const pidFile = path.join(directory, 'data', 'postmaster.pid')
  return { url: server.url('postgres'), own: { pidFile, directory } }
}

function binaries(): Binaries {
  const wanted = process.env['HOLDFAST_POSTGRES']
  const system = wanted === 'embedded' ? null : systemBinaries()
  const found = system ?? (wanted === 'system' ? null : embeddedBinaries())
  if (!found)
    throw new Error(`there is no PostgreSQL to start${wanted ? ` (HOLDFAST_POSTGRES=${wanted})` : ''}`)
  return found
}

/** At the end of the run, by the process that set it up. */
export async function stopShared(json: string): Promise<void> {
  const { own } = JSON.parse(json) as Started
  if (!own) return
  const pid = Number(readFileSync(own.pidFile, 'utf8').split('\n')[0])
  process.kill(pid, 'SIGQUIT')
  while (isAlive(pid)) await delay(10)
  rmSync(own.directory, { recursive: true, force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
