import type { ClaimParams } from '../../engine/ports/store.ts'
import * as control from './control.ts'
import { queuedState } from './rows.ts'
import type { Operation } from './statements.ts'

/**
 * Which due jobs a claim takes. One statement over all queues and kinds would sort every waiting job; so each
 * (queue, kind, band) is read on its own, in index order and only as far as needed, and merged here.
 */

interface Taken {
  readonly seq: number
  readonly visibleAtMs: number
}

interface Due extends Taken {
  readonly queue: string
  readonly band: number
}

/** The due jobs of one queue, kind and band, read page by page. */
interface Lane {
  readonly queue: string
  first(): Due | null
  drop(): void
}

const bands = 4
// A bare `limit ?` is compiled anew at every change of its value, which costs ten times the search; `? + 0` is not.
const page = (solo: 0 | 1): string => `select seq, visible_at from holdfast_job
  where state = ${queuedState} and solo = ${solo} and queue = ? and kind = ? and band = ?
  and visible_at <= holdfast_now() order by visible_at, seq limit ? + 0 offset ? + 0`
const [pageOfMany, pageOfSolo] = [page(0), page(1)]

/**
 * In claim order, as many as fit; a job on its last eviction only alone, and only for a worker that says so. A
 * job whose queue is paused or has no room left is no candidate, and holds nobody up.
 */
export function choose(
  operation: Operation,
  { limit, queues, kinds, solo: stance, only }: ClaimParams,
): { readonly taken: readonly Taken[]; readonly soloWaiting: boolean } {
  const { hold, paused } = control.get(operation)
  if (hold) return { taken: [], soloWaiting: false }
  const open = queues.filter(({ queue, limit }) => limit > 0 && !paused.includes(queue))
  const room = new Map(open.map(({ queue, limit }) => [queue, limit]))
  if (only !== undefined) return chooseOnly(operation, only, { room, kinds, stance })
  const soloAhead = (): Due | null =>
    stance === 'pass' ? null : firstSolo(operation, [...room.keys()], kinds)
  let solo = soloAhead()
  const taken: Taken[] = []
  for (let band = 0; band < bands; band++) {
    const lanes = [...room.keys()].flatMap((queue) =>
      kinds.map((kind) =>
        laneOf(operation, pageOfMany, { queue, kind, band }, limit, kinds.length * room.size),
      ),
    )
    while (taken.length < limit && room.size > 0) {
      const lane = least(lanes, room)
      const next = lane?.first() ?? null
      if (solo && solo.band === band && (next === null || before(solo, next))) {
        if (stance === 'await' || taken.length > 0) return { taken, soloWaiting: true }
        return { taken: [solo], soloWaiting: false }
      }
      if (!lane || !next) break
      taken.push(next)
      lane.drop()
      const left = (room.get(lane.queue) ?? 0) - 1
      room.set(lane.queue, left)
      if (left > 0) continue
      room.delete(lane.queue)
      if (solo?.queue === lane.queue) solo = soloAhead()
    }
  }
  return { taken, soloWaiting: false }
}

const dueById = `select j.seq, j.visible_at, j.queue, j.kind, j.solo from holdfast_body b join holdfast_job j on j.seq = b.seq
  where b.id = ? and j.state = ${queuedState} and j.visible_at <= holdfast_now()`

function chooseOnly(
  operation: Operation,
  id: string,
  {
    room,
    kinds,
    stance,
  }: {
    readonly room: ReadonlyMap<string, number>
    readonly kinds: readonly string[]
    readonly stance: ClaimParams['solo']
  },
): { readonly taken: readonly Taken[]; readonly soloWaiting: boolean } {
  type Row = [seq: number, visibleAtMs: number, queue: string, kind: string, solo: number]
  const row = operation.query<Row>(dueById).get(id)
  if (!row || !room.has(row[2]) || !kinds.includes(row[3])) return { taken: [], soloWaiting: false }
  if (row[4] === 1 && stance !== 'take') return { taken: [], soloWaiting: stance === 'await' }
  return { taken: [{ seq: row[0], visibleAtMs: row[1] }], soloWaiting: false }
}

/** The first due job on its last eviction. There is seldom any, which one look at its index tells. */
function firstSolo(operation: Operation, queues: readonly string[], kinds: readonly string[]): Due | null {
  const any = `select 1 from holdfast_job where state = ${queuedState} and solo = 1 limit 1`
  if (!operation.query(any).get()) return null
  for (let band = 0; band < bands; band++) {
    const lanes = queues.flatMap((queue) =>
      kinds.map((kind) => laneOf(operation, pageOfSolo, { queue, kind, band }, 1, 1)),
    )
    const found = least(lanes, null)?.first()
    if (found) return found
  }
  return null
}

function least(lanes: readonly Lane[], room: ReadonlyMap<string, number> | null): Lane | null {
  let best: Lane | null = null
  for (const lane of lanes) {
    if (room && !room.has(lane.queue)) continue
    const first = lane.first()
    const lead = best?.first()
    if (first && (!lead || before(first, lead))) best = lane
  }
  return best
}

/** Both of one band. */
function before(a: Due, b: Due): boolean {
  return a.visibleAtMs < b.visibleAtMs || (a.visibleAtMs === b.visibleAtMs && a.seq < b.seq)
}

/** Of many lanes each is asked for little at first: most will give nothing. */
const [pageMin, pageMax] = [16, 1_000]

function laneOf(
  operation: Operation,
  sql: string,
  { queue, kind, band }: { readonly queue: string; readonly kind: string; readonly band: number },
  limit: number,
  among: number,
): Lane {
  const size = Math.min(limit, among === 1 ? pageMax : pageMin)
  let rows: [seq: number, visibleAtMs: number][] = []
  let [at, offset, more] = [0, 0, true]
  return {
    queue,
    first: () => {
      if (at === rows.length && more) {
        rows = operation.query<[seq: number, visibleAtMs: number]>(sql).all(queue, kind, band, size, offset)
        at = 0
        offset += rows.length
        more = rows.length === size
      }
      const row = rows[at]
      return row ? { queue, seq: row[0], band, visibleAtMs: row[1] } : null
    },
    drop: () => {
      at += 1
    },
  }
}
