import pg from 'pg'
import { sharedServer } from './shared.ts'

let databases = 0

/** A new, empty database on the shared server. */
export async function newDatabase(): Promise<{
  readonly url: string
  readonly drop: () => Promise<void>
}> {
  const server = await sharedServer()
  const name = `holdfast_${process.pid}_${++databases}`
  await onServer(server, `create database ${name} template template0 encoding 'UTF8'`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onServer(server, `drop database if exists ${name} with (force)`) }
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
