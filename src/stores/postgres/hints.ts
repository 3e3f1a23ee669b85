import pg from 'pg'
import type { Clock } from '../../engine/ports/clock.ts'
import { sleep } from '../../engine/ports/clock.ts'
import type { HintListener, HintSource } from '../../engine/ports/store.ts'
import { queuesOf } from './wake.ts'

export interface HintOptions {
  /** Where to listen: a direct connection, since a transaction pooler hands each transaction another one. */
  readonly connection: pg.PoolConfig
  readonly clock: Clock
  readonly callMs: number
  readonly channel: string
  readonly onLost: (error: Error) => void
}

/** A connection that says nothing is asked now and then: a way that is cut in silence looks the same as peace. */
const probeMs = 15_000
const backoffMs: readonly number[] = [200, 500, 1_000, 2_000, 5_000]

/** LISTEN on connections of its own, one for each that listens. */
export function createHints(options: HintOptions): HintSource & { readonly close: () => Promise<void> } {
  const open = new Set<() => Promise<void>>()
  return {
    listen: (listener) => {
      const stop = new AbortController()
      const done = listen(options, listener, stop.signal)
      const close = (): Promise<void> => {
        open.delete(close)
        stop.abort()
        return done
      }
      open.add(close)
      return { close }
    },
    close: async () => void (await Promise.all([...open].map((close) => close()))),
  }
}

async function listen(options: HintOptions, listener: HintListener, stop: AbortSignal): Promise<void> {
  const { clock } = options
  for (let failures = 0; !stop.aborted; failures++) {
    const why = await once(options, stop, {
      ...listener,
      onState: (up, reason) => {
        failures = 0
        listener.onState(up, reason)
      },
    })
    if (stop.aborted) return
    listener.onState(false, why.message)
    const waitMs = backoffMs[Math.min(failures, backoffMs.length - 1)] as number
    await sleep(clock, waitMs, 'hints-retry', stop).catch(() => {})
  }
}

/** One connection, from its beginning to its end; answers why it ended. */
async function once(options: HintOptions, stop: AbortSignal, listener: HintListener): Promise<Error> {
  const { connection, clock, callMs, channel, onLost } = options
  const client = new pg.Client({
    fallback_application_name: 'holdfast',
    keepAlive: true,
    ...connection,
    connectionTimeoutMillis: callMs,
    query_timeout: callMs,
  })
  const ended = new AbortController()
  const end = (): void => {
    ended.abort(new Error('it was closed'))
    client.connection.stream.destroy()
  }
  client.on('error', (error) => ended.abort(error))
  client.on('end', () => ended.abort(new Error('the connection ended')))
  client.on('notification', ({ payload = '' }) => listener.onHint(queuesOf(payload)))
  stop.addEventListener('abort', end, { once: true })
  let up = false
  try {
    await client.connect()
    await requireDirect(client)
    await client.query(`listen "${channel}"`)
    if (stop.aborted) return ended.signal.reason as Error
    up = true
    listener.onState(true, null)
    // What became due while nobody listened.
    listener.onHint(null)
    for (;;) {
      await sleep(clock, probeMs, 'hints-probe', ended.signal)
      await client.query('select 1')
    }
  } catch (error) {
    if (up && !stop.aborted) onLost(error as Error)
    return error as Error
  } finally {
    stop.removeEventListener('abort', end)
    // Nothing is kept in it, and a server that has frozen would not say goodbye.
    client.connection.stream.destroy()
  }
}

/** A pooler answers LISTEN, and nothing ever comes of it: but the process that it named is not the one that answers. */
async function requireDirect(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ readonly pid: number }>('select pg_backend_pid() as pid')
  const { processID } = client as unknown as { readonly processID: number | null }
  if (rows[0]?.pid === processID) return
  throw new Error('a pooler is in between: give notify a direct connection, or switch it off')
}
