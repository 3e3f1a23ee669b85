// A server to measure: the one that DATABASE_URL names, or one of our own as it comes, with fsync on.
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import pg from 'pg'

const cluster = new URL('../../test/support/postgres/cluster.ts', import.meta.url)
const binaries = new URL('../../test/support/postgres/binaries.ts', import.meta.url)

/** @returns {Promise<{ readonly url: string, readonly stop: () => Promise<void> }>} */
export async function openServer() {
  const url = process.env['DATABASE_URL']
  if (url !== undefined) return { url, stop: async () => {} }
  const { createCluster } = await imported(cluster)
  const { anyBinaries } = await imported(binaries)
  const asItComes = [
    'fsync=on',
    'full_page_writes=on',
    'synchronous_commit=on',
    'autovacuum=on',
    'max_wal_size=1GB',
  ]
  const server = await createCluster(anyBinaries(), { settings: asItComes })
  const stop = async () => {
    await server.stop()
    rmSync(server.directory, { recursive: true, force: true })
  }
  return { url: server.url('postgres'), stop }
}

/**
 * The servers of the tests are in TypeScript, which Node 20 does not run.
 * @param {URL} file
 */
async function imported(file) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [fileURLToPath(file)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    define: { 'import.meta.url': JSON.stringify(file.href) },
  })
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`)
}

/**
 * A new, empty database on it, with nothing of an earlier round still to be written. Where the work of a statement
 * is measured, and not the disk, its commits do not wait for that.
 * @param {string} server
 * @param {string} name
 * @param {{ readonly durable?: boolean }} [options]
 */
export async function freshDatabase(server, name, { durable = true } = {}) {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`drop database if exists ${name} with (force)`)
  await client.query(`create database ${name} template template0 encoding 'UTF8'`)
  if (!durable) await client.query(`alter database ${name} set synchronous_commit = off`)
  await client.query('checkpoint')
  await client.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/**
 * @template R
 * @param {string} url
 * @param {(client: pg.Client) => Promise<R>} work
 */
export async function connected(url, work) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
