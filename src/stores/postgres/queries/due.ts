import type { ClaimParams } from '../../../engine/ports/store.ts'
import { time } from '../clock.ts'
import type { Session } from '../database.ts'
import { kindKey } from '../rows.ts'
import * as control from './control.ts'

/**
 * Which due jobs a claim takes while one on its last eviction is among them. It only looks; the claim locks.
 */
export interface Choice {
  /** In claim order. */
  readonly seqs: readonly string[]
  /** They are one job, on its last eviction. */
  readonly solo: boolean
  readonly soloWaiting: boolean
}

interface Due {
  readonly queue: string
  readonly band: number
  readonly visibleAtMs: number
  /** As text: the claim names its rows by them, and a number is exact only up to 2^53. */
  readonly seq: string
}

/**
 * In claim order, as many as fit; a job on its last eviction only alone, and only for a worker that says so. A
 * job whose queue is paused or has no room left is no candidate, and holds nobody up.
 */
export async function choose(session: Session, params: ClaimParams): Promise<Choice> {
  const { hold, paused } = await control.get(session)
  const open = params.queues.filter(({ queue, limit }) => limit > 0 && !paused.includes(queue))
  if (hold || open.length === 0) return { seqs: [], solo: false, soloWaiting: false }
  const room = new Map(open.map(({ queue, limit }) => [queue, limit]))
  const queues = [...room.keys()]
  if (params.only !== undefined) return chooseOnly(session, params, params.only, queues)
  const many = await look(session, queues, params.kinds, { place: 0, limit: params.limit })
  const alone = await look(session, queues, params.kinds, { place: 1, limit: 1 })
  return chosen(params, room, many, alone)
}

const dueById = `with ${time}
  select j.seq::text, j.place from holdfast.body b join holdfast.job j on j.seq = b.seq cross join t
  where b.id = $1 and j.place in (0, 1) and j.visible_at <= t.ms and j.queue = any($2::text[]) and j.kind = any($3::text[])`

async function chooseOnly(
  session: Session,
  { kinds, solo: stance }: ClaimParams,
  id: string,
  queues: readonly string[],
): Promise<Choice> {
  const [row] = await session.query<[seq: string, place: number]>(dueById, [id, queues, kinds])
  if (!row) return { seqs: [], solo: false, soloWaiting: false }
  const solo = row[1] === 1
  if (solo && stance !== 'take') return { seqs: [], solo: false, soloWaiting: stance === 'await' }
  return { seqs: [row[0]], solo, soloWaiting: false }
}

const lookAt = `with ${time}
  select a.queue, a.band, a.visible_at, a.seq::text from unnest($1::text[]) as q(queue)
  cross join unnest($2::int[], $3::text[]) as k(kind_key, kind)
  cross join (values (0::smallint), (1::smallint), (2::smallint), (3::smallint)) as b(band)
  cross join lateral (select j.queue, j.band, j.visible_at, j.seq from holdfast.job j
    where j.place = PLACE and j.queue = q.queue and j.kind_key = k.kind_key and j.kind = k.kind and j.band = b.band
      and j.visible_at <= (select ms from t) order by j.visible_at, j.seq limit $4::bigint) a
  order by a.band, a.visible_at, a.seq`
/** The place stands in the text, or no partial index would fit. */
const looks = [lookAt.replace('PLACE', '0'), lookAt.replace('PLACE', '1')] as const

async function look(
  session: Session,
  queues: readonly string[],
  kinds: readonly string[],
  { place, limit }: { readonly place: 0 | 1; readonly limit: number },
): Promise<Due[]> {
  type Row = [queue: string, band: number, visibleAtMs: number, seq: string]
  const rows = await session.query<Row>(looks[place], [queues, kinds.map(kindKey), kinds, limit])
  return rows.map(([queue, band, visibleAtMs, seq]) => ({ queue, band, visibleAtMs, seq }))
}

function chosen(
  { limit, solo: stance }: ClaimParams,
  room: Map<string, number>,
  many: readonly Due[],
  alone: readonly Due[],
): Choice {
  const soloAhead = (): Due | undefined =>
    stance === 'pass' ? undefined : alone.find(({ queue }) => room.has(queue))
  const seqs: string[] = []
  for (const next of [...many, null]) {
    if (seqs.length >= limit || room.size === 0) break
    if (next && !room.has(next.queue)) continue
    const solo = soloAhead()
    if (solo && (!next || before(solo, next))) {
      const takes = stance === 'take' && seqs.length === 0
      return takes
        ? { seqs: [solo.seq], solo: true, soloWaiting: false }
        : { seqs, solo: false, soloWaiting: true }
    }
    if (!next) break
    seqs.push(next.seq)
    const left = (room.get(next.queue) ?? 0) - 1
    if (left > 0) room.set(next.queue, left)
    else room.delete(next.queue)
  }
  return { seqs, solo: false, soloWaiting: false }
}

function before(a: Due, b: Due): boolean {
  return a.band - b.band < 0 || (a.band === b.band && earlier(a, b))
}

function earlier(a: Due, b: Due): boolean {
  return a.visibleAtMs < b.visibleAtMs || (a.visibleAtMs === b.visibleAtMs && BigInt(a.seq) < BigInt(b.seq))
}
