// `holdfast migrate`: the tables of a production database, by the command or as SQL for a DBA.
import Database from 'better-sqlite3'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrationSql } from '../../src/stores/postgres/index.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { type Ended, desk } from './holdfast.ts'

const at = desk()
afterAll(() => at.clear())

/** Whatever the environment of the tests says. */
const migrate = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  at.run(['migrate', ...args], { DATABASE_URL: '', ...env })

describe('on a file', () => {
  test('makes the tables, says so, and finds them there the next time', async () => {
    expect(await migrate(['--file', 'jobs.db'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^SQLite jobs\.db: the tables were made, at version \d+\n$/) as string,
      stderr: '',
    })
    expect(await migrate(['--file', 'jobs.db'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^SQLite jobs\.db: the tables are at version \d+ already\n$/) as string,
    })
  })

  test('of a newer release is refused in one line', async () => {
    await migrate(['--file', 'newer.db'])
    const db = new Database(path.join(at.directory, 'newer.db'))
    db.exec('insert into holdfast_schema values (1000, 1000, 0)')
    db.close()
    expect(await migrate(['--file', 'newer.db'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: SQLite newer\.db: .*needs a release.*upgrade holdfast\n$/,
      ) as string,
    })
  })

  test('that cannot be opened is wrong usage', async () => {
    expect(await migrate(['--file', 'no/such/folder/jobs.db'])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('on a server', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>
  let admin: pg.Client
  beforeAll(async () => {
    database = await newDatabase()
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin.end()
    await database.drop()
  })

  test('makes the tables in the schema, says so without credentials, and finds them there the next time', async () => {
    const { host, pathname } = new URL(database.url)
    const says = `PostgreSQL ${host}${pathname}, schema jobs: the tables`
    const args = ['--database-url', database.url, '--schema', 'jobs']
    const first = await migrate(args)
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/were made, at version \d+\n$/)
    expect(first.stdout.startsWith(says)).toBe(true)
    expect((await migrate(args)).stdout).toMatch(/are at version \d+ already\n$/)
    // From the environment, where other users of the machine cannot read it.
    const { code, stdout } = await migrate(['--schema', 'jobs'], { DATABASE_URL: database.url })
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('already') as string })
  })

  test('a role that is named later gets its rights on tables that are there', async () => {
    await admin.query('create role holdfast_cli login')
    const args = ['--database-url', database.url, '--schema', 'roles']
    await migrate(args)
    const { code, stdout } = await migrate([...args, '--runtime-role', 'holdfast_cli'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/already; role holdfast_cli may work with them\n$/)
    const may = `select has_table_privilege('holdfast_cli', 'roles.job', 'update') as may`
    expect((await admin.query(may)).rows).toEqual([{ may: true }])
    await admin.query('drop owned by holdfast_cli; drop role holdfast_cli')
  })

  test('a server that is not there can be tried again, and its password is in no message (X04)', async () => {
    const away = 'postgres://someone:hunter2-marker@127.0.0.1:1/jobs'
    const { code, stdout, stderr } = await migrate(['--database-url', away])
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(/^error: PostgreSQL 127\.0\.0\.1:1\/jobs, schema holdfast: the connection.*\n$/)
    expect(stderr).not.toMatch(/hunter2-marker|someone/)
  })

  test('what the server refuses is told, without the password (X04)', async () => {
    const url = new URL(database.url)
    url.username = 'nobody'
    url.password = 'hunter2%2Dmarker'
    const { code, stderr } = await migrate(['--database-url', url.href])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: PostgreSQL .*refuses/)
    expect(stderr).not.toMatch(/hunter2/)
  })
})

test('--sql prints what a DBA runs, and asks no database', async () => {
  const { code, stdout } = await migrate(['--sql', '--schema', 'jobs', '--runtime-role', 'worker'])
  expect(code).toBe(0)
  expect(stdout).toBe(migrationSql({ schema: 'jobs', runtimeRole: 'worker' }))
})

test.each([
  [[], /give either --database-url URL or --file FILE/],
  [['--file', 'a.db', '--database-url', 'postgres://h/d'], /give either/],
  [['--file', 'a.db', '--schema', 'jobs'], /of PostgreSQL, not of a --file/],
  [['--sql', '--file', 'a.db'], /--sql touches no database/],
  [['--database-url', 'mysql://root:hunter2-marker@h/d'], /takes a URL like postgres:/],
  [['--database-url', 'hunter2-marker'], /takes a URL like postgres:/],
  [['--database-url', 'postgres://h/d', '--schema', 'No Good'], /schema must be 1 to 63/],
  [['--sql', '--runtime-role', 'a;b'], /runtimeRole must be 1 to 63/],
] as const)('%j is wrong usage, in one line', async (args, message) => {
  const { code, stdout, stderr } = await migrate(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr).not.toMatch(/hunter2-marker|\n./)
})
