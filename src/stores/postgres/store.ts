import type { InspectableStore } from '../../engine/ports/store.ts'
import { nowMs } from './clock.ts'
import type { Database, Session, Use } from './database.ts'
import { migrate, requireSchema } from './migrations/migrate.ts'
import { adopt } from './queries/adopt.ts'
import { queueAges } from './queries/ages.ts'
import { requestCancel } from './queries/cancel.ts'
import { checkpoint, checkpoints } from './queries/checkpoint.ts'
import { createClaim } from './queries/claim.ts'
import { collect } from './queries/collect.ts'
import { counts } from './queries/counts.ts'
import { confirm, transact } from './queries/commits.ts'
import { reschedule, retry } from './queries/command.ts'
import * as control from './queries/control.ts'
import * as deadLetters from './queries/dead-letters.ts'
import { repairDispatch } from './queries/dispatch.ts'
import * as content from './queries/dump.ts'
import { get } from './queries/get.ts'
import { insert } from './queries/insert.ts'
import { list } from './queries/list.ts'
import * as logs from './queries/logs.ts'
import * as named from './queries/named.ts'
import { outcomes } from './queries/outcomes.ts'
import { progress } from './queries/progress.ts'
import { reclaim } from './queries/reclaim.ts'
import { recover } from './queries/recover.ts'
import { renew } from './queries/renew.ts'
import * as schedules from './queries/schedules.ts'
import { restored } from './queries/restored.ts'
import * as retention from './queries/retention.ts'
import { settle } from './queries/settle.ts'
import { expireTimeouts } from './queries/timeouts.ts'
import { createWithin } from './within.ts'
import * as watch from './queries/watch.ts'

export interface StoreParts {
  readonly name: string
  readonly callMs: number
  /** A statement as it is written, to one on the schema of the store. */
  readonly text: (sql: string) => string
  /** What `migrate()` runs. */
  readonly migrationScript: string
  /** Where those who listen are told of jobs that have become due; null tells nobody. */
  readonly channel?: string | null
  /** It says what a role may do, too. */
  readonly grants?: boolean
}

/** The bare store over a database, whichever driver is behind it. */
export function storeOver(
  unchecked: Database,
  { name, callMs, text, migrationScript, grants = false, channel = null }: StoreParts,
): InspectableStore {
  const database = checked(unchecked)
  const by = (use: Use) => {
    return <P, R>(operate: (session: Session, params: P, channel: string | null) => Promise<R>) => {
      return (params: P): Promise<R> => {
        return database.autocommit(use, (session) => operate(session, params, channel))
      }
    }
  }
  const [common, urgent] = [by('common'), by('urgent')]
  const whole = <R>(work: (session: Session) => Promise<R>): Promise<R> =>
    database.transaction('common', work, 'snapshot')
  return {
    name,
    callMs,
    jobs: {
      insert: (params) => insert(database, params, channel),
      settle: urgent(settle),
      reclaim: unlessNone({ jobs: [], heldBack: 0, full: false }, urgent(reclaim)),
      expireTimeouts: unlessNone({ jobs: [] }, urgent(expireTimeouts)),
      adopt: unlessNone({ jobs: [] }, urgent(adopt)),
      get: common(get),
      outcomes: common(outcomes),
      queueAges: common(queueAges),
      requestCancel: common(requestCancel),
      retry: common(retry),
      reschedule: common(reschedule),
      progress: common(progress),
      checkpoint: common(checkpoint),
      checkpoints: common(checkpoints),
      repairDispatch: unlessNone({ ids: [] }, urgent(repairDispatch)),
    },
    claims: {
      claim: createClaim(database),
      recover: urgent(recover),
      renew: urgent(renew),
      collect: unlessNone({ removed: 0 }, urgent(collect)),
    },
    watch: { declare: urgent(watch.declare), move: urgent(watch.move) },
    leases: { acquire: urgent(named.acquire), renew: urgent(named.renew), release: urgent(named.release) },
    commits: { transact: (params) => transact(database, params), confirm: urgent(confirm) },
    within: createWithin(text, channel),
    deadLetters: {
      list: common(deadLetters.list),
      replay: (params) => deadLetters.replay(database, params, channel),
      discard: common(deadLetters.discard),
    },
    queries: { list: common(list), counts: () => database.autocommit('common', counts) },
    schedules: {
      put: common(schedules.put),
      remove: common(schedules.remove),
      get: common(schedules.get),
      list: unlessNone({ schedules: [] }, common(schedules.list)),
      pause: common(schedules.pause),
      due: common(schedules.due),
      fire: (params) => schedules.fire(database, params, channel),
    },
    logs: { append: common(logs.append), page: common(logs.page), tail: common(logs.tail) },
    control: {
      set: common(control.set),
      get: () => database.autocommit('common', control.get),
      restored: (params) => restored(database, params),
    },
    retention: {
      sweep: unlessNone({ removed: [], looked: 0, after: null }, common(retention.sweep)),
      sweepLeases: unlessNone({ removed: 0 }, common(retention.sweepLeases)),
    },
    now: () => unchecked.autocommit('common', now),
    migrate: () => migrate(unchecked, migrationScript, grants),
    close: () => unchecked.close(),
    dump: () => whole(content.dump),
    snapshot: () => whole((session) => content.snapshot(session, name)),
    restore: (snapshot) => whole((session) => content.restore(session, snapshot, name)),
    reset: () => whole(content.reset),
  }
}

async function now(session: Session): Promise<number> {
  const [row] = await session.query<[nowMs: number]>(`select ${nowMs}`)
  return (row as [number])[0]
}

/** A limit of nothing is answered before any query. */
function unlessNone<P extends { readonly limit: number }, R>(
  nothing: R,
  ask: (params: P) => Promise<R>,
): (params: P) => Promise<R> {
  return async (params) => (params.limit <= 0 ? nothing : ask(params))
}

/** Looks once, before the first operation, whether the tables are those of this release. */
function checked(database: Database): Database {
  let usable = false
  const ready = async (session: Session): Promise<void> => {
    if (!usable) await requireSchema(session)
    usable = true
  }
  return {
    ...database,
    autocommit: (use, work) =>
      database.autocommit(use, async (session) => {
        await ready(session)
        return work(session)
      }),
    transaction: (use, work, isolation) =>
      database.transaction(
        use,
        async (session, undo) => {
          await ready(session)
          return work(session, undo)
        },
        isolation,
      ),
    shared: (work) =>
      database.shared(async (client, session) => {
        await ready(session)
        return work(client, session)
      }),
  }
}
