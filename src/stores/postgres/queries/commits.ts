import { InvalidArgument } from '../../../engine/errors.ts'
import type {
  ConfirmReply,
  JobEpoch,
  Settlement,
  TransactParams,
  TransactReply,
} from '../../../engine/ports/store.ts'
import type { Database, Session } from '../database.ts'
import { PostgresUnavailable, typed } from '../errors.ts'
import { settleOf } from '../rows.ts'
import { settle } from './settle.ts'

/**
 * A savepoint that is set when the transaction begins, and released before the settlement: it is there iff nobody has
 * ended that transaction meanwhile, and no statement in it failed unheard.
 */
export const mark = 'holdfast_handler'

/** The settlement is the last statement, so that its lock is held for as long as the commit takes, and no longer. */
export async function transact(
  database: Database,
  { id, epoch, seq, work }: TransactParams,
): Promise<TransactReply> {
  return database.shared<TransactReply>(async (client, session) => {
    const worked = await work(client)
    if ('thrown' in worked) return undone(worked.thrown)
    try {
      await session.query(`release savepoint ${mark}`)
    } catch (error) {
      return undone(ended(error))
    }
    const outcome = { kind: 'succeeded', result: worked.result } as const
    const settlements = [{ id, epoch, outcome, repeated: false, ...claimedAt(seq) }]
    const { results } = await settle(session, { worker: '', settlements }, null)
    const keep = results[0]?.settled === 'applied'
    return { value: { kind: keep ? 'committed' : 'lost' }, keep }
  })
}

/** What the database did to a statement of the handler is told as such; all else is the handler's own. */
function undone(thrown: unknown): { readonly value: TransactReply; readonly keep: false } {
  if (typed(thrown, 'no') instanceof PostgresUnavailable) throw thrown
  return { value: { kind: 'thrown', error: thrown }, keep: false }
}

function ended(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown }
  if (code !== '3B001' && code !== '25P01') return error
  return new InvalidArgument('what is committed must not end its transaction by itself', { cause: error })
}

function claimedAt(seq: number | undefined): Pick<Settlement, 'claimed'> {
  return seq === undefined ? {} : { claimed: { token: null, seq } }
}

const last = `select j.settle_epoch, j.settle_kind
  from holdfast.body b join holdfast.job j on j.seq = b.seq where b.id = $1 and b.seq = coalesce($2::bigint, b.seq)`

/**
 * Statements that commit each on its own. The first waits for a transaction in flight, which holds the row since its
 * settlement; in one statement the look would miss what that committed.
 */
export async function confirm(
  session: Session,
  { id, epoch, seq }: JobEpoch,
  channel: string | null,
): Promise<ConfirmReply> {
  const outcome = { kind: 'released', delayMs: 0 } as const
  const settlements = [{ id, epoch, outcome, repeated: true, ...claimedAt(seq) }]
  const { results } = await settle(session, { worker: '', settlements }, channel)
  const { settled: how, state } = results[0] ?? { settled: 'lost', state: null }
  if (how === 'applied') return { kind: 'released', state }
  const [row] = await session.query<[epoch: number | null, kind: number | null]>(last, [id, seq ?? null])
  const settled = row ? settleOf(row[0], row[1]) : null
  const committed = settled?.epoch === epoch && settled.kind === 'succeeded'
  return { kind: committed ? 'committed' : 'lost', state }
}
