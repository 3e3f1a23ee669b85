import pg from 'pg'
import { HoldfastError } from '../../engine/errors.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import type { Use } from './database.ts'
import { isUnknownParameter, spoils, typed, unconnected } from './errors.ts'
import { requirePreparing } from './preparing.ts'

/**
 * Connections of the store's own, in two pools, so that what keeps leases never waits for anything else, be it a
 * burst of enqueues or handlers that have taken the last connection of the caller's pool.
 *
 * A call is bounded on the server too. On a direct connection that is a parameter of the connection. A transaction
 * pooler hands one connection to many, and refuses or drops such parameters: there each statement gets its
 * transaction and its bound with it, which costs two more round trips. Which of the two it is shows at connecting.
 */
export interface Connections {
  /** Lends a connection to `work`; one that `spoil` was told of is not used again. */
  holding<R>(use: Use, work: (held: Held) => Promise<R>): Promise<R>
  end(): Promise<void>
}

export interface Held {
  readonly client: pg.ClientBase
  /** The server ends each of its statements in time by itself. */
  readonly bounded: boolean
  readonly use: Use
  /** What is left of the bound for the server, in ms. */
  readonly leftMs: number
  /** Looks whether a failure leaves the connection in a state that nobody knows. Answers whether it does. */
  readonly spoil: (error: unknown) => boolean
}

export interface ConnectionOptions {
  readonly connection: pg.PoolConfig
  readonly clock: Clock
  readonly callMs: number
  /** Most connections beside those for what is urgent, and as many again for handlers. */
  readonly connections: number
  readonly prepared: boolean
  readonly onLost: (error: Error) => void
}

/** Of a call's bound: a tenth is left for the answer, so that it is the server which ends a statement. */
const serverShare = 0.9
/** What keeps leases takes turns: a settle, a heartbeat and a sweep. */
const urgentMax = 2
/** Longer than a heartbeat, which would else connect anew each time. */
const idleMs = 60_000

export function createConnections(options: ConnectionOptions): Connections {
  const { clock, callMs } = options
  const serverMs = Math.max(1, Math.floor(callMs * serverShare))
  const bounds = new WeakMap<pg.ClientBase, boolean>()
  let mayPrepare = !options.prepared
  const lose = onceEach(options.onLost)
  let pools = openPools(options, serverMs, true, lose)
  const open = [pools]
  let ended: Promise<unknown> | null = null

  async function connected(use: Use): Promise<pg.PoolClient> {
    const asked = pools
    try {
      return await asked[use].connect()
    } catch (error) {
      if (!asked.byParameter || !isUnknownParameter(error)) throw unconnected(error)
      // Behind a pooler that refuses them. From now on without; who fails together with this call finds it so.
      // The others are left to end by themselves: some may wait in them for their turn to be refused.
      if (pools === asked) open.push((pools = openPools(options, serverMs, false, lose)))
      return connected(use)
    }
  }

  async function checkOut(use: Use): Promise<{ held: Held; release: () => void }> {
    const sinceMs = clock.monotonicMs()
    const client = await connected(use)
    let spoilt = false
    const spoil = (error: unknown): boolean => {
      const spoiling = !(error instanceof HoldfastError) && spoils(error)
      spoilt ||= spoiling
      if (spoiling && error instanceof Error) lose(client, error)
      return spoiling
    }
    try {
      const bounded = bounds.get(client) ?? (await isBounded(client, serverMs))
      bounds.set(client, bounded)
      if (!mayPrepare) await requirePreparing(client, serverMs)
      mayPrepare = true
      const waitedMs = clock.monotonicMs() - sinceMs
      // Having waited for long, less is left than the parameter of the connection allows.
      const inTime = waitedMs <= callMs - serverMs
      const leftMs = Math.max(1, Math.floor(serverMs - waitedMs))
      return {
        held: { client, use, bounded: bounded && inTime, leftMs, spoil },
        release: () => client.release(spoilt),
      }
    } catch (error) {
      client.release(true)
      throw typed(error, 'no')
    }
  }

  return {
    holding: async (use, work) => {
      const { held, release } = await checkOut(use)
      try {
        return await work(held)
      } finally {
        release()
      }
    },
    end: async () => void (await (ended ??= Promise.all(open.map(endPools)))),
  }
}

interface Pools extends Readonly<Record<Use, pg.Pool>> {
  readonly byParameter: boolean
}

function openPools(options: ConnectionOptions, serverMs: number, byParameter: boolean, lose: Lose): Pools {
  const { connection, connections, prepared } = options
  const { max: _max, min: _min, statement_timeout: _bound, ...given } = connection
  // The password is hidden in the options of a pool: a copy of what can be seen lacks it.
  const secret = connection.password === undefined ? {} : { password: connection.password }
  const asking = (use: Use): pg.PoolConfig =>
    byParameter
      ? { options: parameters(connection.options, serverMs, use === 'handlers' ? [] : plans(prepared)) }
      : {}
  const settings: pg.PoolConfig = {
    fallback_application_name: 'holdfast',
    keepAlive: true,
    ...given,
    ...secret,
    connectionTimeoutMillis: serverMs,
    idleTimeoutMillis: idleMs,
    allowExitOnIdle: true,
  }
  const open = (use: Use, max: number): pg.Pool =>
    listenedTo(new pg.Pool({ ...settings, ...asking(use), max }), lose)
  return {
    common: open('common', connections),
    urgent: open('urgent', urgentMax),
    handlers: open('handlers', connections),
    byParameter,
  }
}

async function endPools({ common, urgent, handlers }: Pools): Promise<void> {
  await Promise.all([common.end(), urgent.end(), handlers.end()])
}

type Lose = (client: pg.ClientBase, error: Error) => void

/** A connection that breaks has several errors, of which the first says what it was. */
function onceEach(onLost: (error: Error) => void): Lose {
  const told = new WeakSet<pg.ClientBase>()
  return (client, error) => {
    if (told.has(client)) return
    told.add(client)
    onLost(error)
  }
}

/** An `error` event that nobody hears ends the process. Whoever uses the connection then fails by it anyway. */
function listenedTo(pool: pg.Pool, lose: Lose): pg.Pool {
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', (error) => lose(client, error)))
  return pool
}

/**
 * Nothing runs on these connections but statements of the store, which are written for one plan each: by index,
 * row by row. A guess of the planner over young statistics must not lead to another, nor to compiling it.
 */
const planning: readonly (readonly [string, string])[] = [
  ['jit', 'off'],
  ['enable_seqscan', 'off'],
  ['random_page_cost', '1.1'],
]

/** What a connection asks for at its start. A client that froze in a transaction loses it, and its locks. */
function parameters(
  given: string | undefined,
  serverMs: number,
  plans: readonly (readonly [string, string])[],
): string {
  const asked: (readonly [string, string])[] = [
    ['statement_timeout', `${serverMs}`],
    ['lock_timeout', `${lockMs(serverMs)}`],
    ['idle_in_transaction_session_timeout', `${serverMs}`],
    ['default_transaction_isolation', 'read\\ committed'],
    ...plans,
  ]
  return [given, ...asked.map(([name, value]) => `-c ${name}=${value}`)].filter(Boolean).join(' ')
}

/** Less than the bound of the statement: it is the lock's own error that says what was waited for. */
function lockMs(serverMs: number): number {
  return Math.max(1, Math.floor(serverMs * 0.95))
}

/** A named statement is planned once; else it would be planned at each call for as long as that looks cheaper. */
function plans(prepared: boolean): readonly (readonly [string, string])[] {
  return prepared ? [...planning, ['plan_cache_mode', 'force_generic_plan']] : planning
}

/** The same for one transaction; what handlers ask is planned as the server likes. */
export function localSettings(leftMs: number, use: Use): string {
  const bounds = [
    ['statement_timeout', `${leftMs}`],
    ['lock_timeout', `${lockMs(leftMs)}`],
    ['idle_in_transaction_session_timeout', `${leftMs}`],
  ]
  return [...bounds, ...(use === 'handlers' ? [] : planning)]
    .map(([name, value]) => `set local ${name} = ${value}`)
    .join('; ')
}

/** Whether the connection has the bound it asked for: a pooler may have kept it to itself. */
async function isBounded(client: pg.ClientBase, serverMs: number): Promise<boolean> {
  const setting = `select setting from pg_settings where name = 'statement_timeout'`
  const { rows } = await client.query<{ readonly setting: string }>({
    text: setting,
    query_timeout: serverMs,
  } as pg.QueryConfig)
  return rows[0]?.setting === `${serverMs}`
}
