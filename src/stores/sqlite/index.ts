import type SqliteDriver from 'better-sqlite3'
import { InvalidConfig } from '../../engine/errors.ts'
import { type Names, requireKnown, requireObject, shown } from '../../engine/given.ts'
import type { InspectableStore } from '../../engine/ports/store.ts'
import type { Random } from '../../engine/ports/random.ts'
import { systemClock, systemRandom } from '../../engine/system.ts'
import { type ResilientOptions, resilient } from '../resilient.ts'
import { adopt as adoptUnleased } from './adopt.ts'
import { queueAges } from './ages.ts'
import { requestCancel } from './cancel.ts'
import { checkpoint, checkpoints } from './checkpoint.ts'
import * as claims from './claim.ts'
import { collect } from './collect.ts'
import { confirm, transact } from './commits.ts'
import { reschedule, retry } from './command.ts'
import { type Connection, adopt, openFile } from './connection.ts'
import * as control from './control.ts'
import { counts } from './counts.ts'
import * as deadLetters from './dead-letters.ts'
import { repairDispatch } from './dispatch.ts'
import * as content from './dump.ts'
import { get } from './get.ts'
import { insert } from './insert.ts'
import { list } from './list.ts'
import * as logs from './logs.ts'
import * as named from './named.ts'
import { outcomes } from './outcomes.ts'
import { progress } from './progress.ts'
import { reclaim } from './reclaim.ts'
import { recover } from './recover.ts'
import { renew } from './renew.ts'
import * as schedules from './schedules.ts'
import { restored } from './restored.ts'
import * as retention from './retention.ts'
import { settle } from './settle.ts'
import type { Operation } from './statements.ts'
import { expireTimeouts } from './timeouts.ts'
import { type Turnstile, createTurnstile } from './turnstile.ts'
import * as watch from './watch.ts'
import { insertsWithin } from './within.ts'

export { SchemaUnusable, StoreClosed, StoreCorrupt } from '../errors.ts'
export { SqliteUnavailable } from './errors.ts'
export type { UnavailableReason } from './errors.ts'

/** Where the jobs are: a file of the store's own, or a handle of the caller's, which the store never closes. */
export type SqliteTarget = { readonly file: string } | { readonly database: SqliteHandle }

/** A `Database` of better-sqlite3. Give it to one store only. */
export interface SqliteHandle {
  readonly open: boolean
  readonly inTransaction: boolean
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

export interface SqliteOptions extends ResilientOptions {
  /**
   * `full` (default): what was answered survives a power cut. `normal`: it survives a crash of the process, and a
   * power cut may undo the last commits. On a handle of the caller's that is the caller's setting.
   */
  readonly synchronous?: 'full' | 'normal'
  readonly random?: Random
}

const targetText = "sqliteStore's first argument"
const optionNames: Names<SqliteOptions> = { callMs: true, clock: true, synchronous: true, random: true }

/**
 * Jobs in an SQLite database, for the processes of one machine; `migrate()` it once before use. Needs the
 * package `better-sqlite3`. The database's time is this machine's wall clock. A lock that another process
 * holds is waited for without blocking the event loop, for nine tenths of `callMs`.
 * Throws `InvalidConfig` if the file can never be opened, or the handle serves another store.
 */
export function sqliteStore(target: SqliteTarget, options: SqliteOptions = {}): InspectableStore {
  requireObject('options', options, InvalidConfig)
  requireKnown('options', options, optionNames, InvalidConfig)
  const clock = options.clock ?? systemClock
  const callMs = options.callMs ?? 5_000
  const { synchronous = 'full', random = systemRandom } = options
  if (synchronous !== 'full' && synchronous !== 'normal') {
    throw new InvalidConfig(`synchronous must be 'full' or 'normal', not ${JSON.stringify(synchronous)}`)
  }
  requireTarget(target)
  requireKnown(targetText, target, { file: true, database: true }, InvalidConfig)
  const settings = { time: { nowMs: () => clock.wallMs() }, synchronous }
  const connection =
    'file' in target
      ? openFile(target.file, settings)
      : adopt(target.database as SqliteDriver.Database, settings)
  // A tenth is left for the operation itself, so that a call which only ever met a lock ends as "not sent".
  const patience = { clock, random, patienceMs: callMs * 0.9 }
  const raw = storeOver(connection, createTurnstile(patience), createTurnstile(patience), callMs)
  return { ...raw, ...resilient(raw, { ...options, callMs }) }
}

function requireTarget(target: unknown): void {
  const { file, database } = (typeof target === 'object' && target !== null ? target : {}) as {
    readonly file?: unknown
    readonly database?: Partial<SqliteHandle> | null
  }
  if (file !== undefined) {
    if (typeof file === 'string') return
    throw new InvalidConfig(`file must be a path, not ${shown(file)}`)
  }
  if (database === undefined) {
    throw new InvalidConfig(`sqliteStore takes { file } or { database }, not ${shown(target)}`)
  }
  if (typeof database?.prepare === 'function' && typeof database.exec === 'function') return
  throw new InvalidConfig(`database must be a Database of better-sqlite3, not ${shown(database)}`)
}

/** The bare store in memory, under the database time that `time` gives it: for the simulation. */
export function rawSqliteStore(time: { nowMs(): number }): InspectableStore {
  const connection = openFile(':memory:', { time, synchronous: 'normal' })
  connection.migrate()
  // Nobody else has this database, so there is no lock to wait for.
  const direct: Turnstile = { run: async (pass) => pass() }
  return storeOver(connection, direct, direct, 5_000)
}

function storeOver(
  connection: Connection,
  reads: Turnstile,
  writes: Turnstile,
  callMs: number,
): InspectableStore {
  const write = <P, R>(operate: (operation: Operation, params: P) => R) => {
    return (params: P): Promise<R> =>
      writes.run(() => connection.write((operation) => operate(operation, params)))
  }
  const read = <P, R>(operate: (operation: Operation, params: P) => R) => {
    return (params: P): Promise<R> =>
      reads.run(() => connection.read((operation) => operate(operation, params)))
  }
  const claim = write(claims.claim)
  return {
    name: 'sqlite',
    callMs,
    jobs: {
      insert: write(insert),
      settle: write(settle),
      reclaim: write(reclaim),
      expireTimeouts: write(expireTimeouts),
      adopt: write(adoptUnleased),
      get: read(get),
      outcomes: read(outcomes),
      queueAges: read(queueAges),
      requestCancel: write(requestCancel),
      retry: write(retry),
      reschedule: write(reschedule),
      progress: write(progress),
      checkpoint: write(checkpoint),
      checkpoints: read(checkpoints),
      repairDispatch: write(repairDispatch),
    },
    claims: {
      // Not async: its answer would come some turns later, after that of an operation that ran after it.
      claim: (params) => {
        const none = claims.vain(params)
        return none ? Promise.resolve(none) : claim(params)
      },
      recover: write(recover),
      renew: write(renew),
      collect: write(collect),
    },
    watch: { declare: write(watch.declare), move: write(watch.move) },
    leases: { acquire: write(named.acquire), renew: write(named.renew), release: write(named.release) },
    commits: {
      transact: (params) => writes.run(() => transact(connection, params)),
      confirm: write(confirm),
    },
    within: (client) => insertsWithin(connection, client),
    deadLetters: {
      list: read(deadLetters.list),
      replay: write(deadLetters.replay),
      discard: write(deadLetters.discard),
    },
    queries: { list: read(list), counts: () => read(counts)(undefined) },
    schedules: {
      put: write(schedules.put),
      remove: write(schedules.remove),
      get: read(schedules.get),
      list: read(schedules.list),
      pause: write(schedules.pause),
      due: read(schedules.due),
      fire: write(schedules.fire),
    },
    logs: { append: write(logs.append), page: read(logs.page), tail: read(logs.tail) },
    control: {
      set: write(control.set),
      get: () => read(control.get)(undefined),
      restored: write(restored),
    },
    retention: { sweep: write(retention.sweep), sweepLeases: write(retention.sweepLeases) },
    now: async () => connection.nowMs(),
    migrate: () => writes.run(() => connection.migrate()),
    close: async () => connection.close(),
    dump: () => read(content.dump)(undefined),
    snapshot: () => read(content.snapshot)(undefined),
    restore: write(content.restore),
    reset: () => write(content.reset)(undefined),
  }
}
