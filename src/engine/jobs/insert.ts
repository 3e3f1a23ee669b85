import { IdConflict, InvalidArgument } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { InsertReply, InsertsWithin, NewJob, Store } from '../ports/store.ts'
import type { Intervals } from '../settings.ts'
import { sameJson } from './json.ts'
import type { Payloads } from './payloads.ts'

export interface Enqueued {
  readonly id: string
  /** False if a job with this id, kind and input was already there. */
  readonly created: boolean
}

export interface Producer {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly intervals: Intervals
  readonly payloads: Payloads
  readonly ask: <T>(call: string, answer: Promise<T>) => Promise<T>
}

/** A job on its way to the store, with its input as the JSON text that the codec was given. */
export interface Prepared extends NewJob {
  readonly json: string
}

/**
 * Inserts all or none, answering in their order. A store compares inputs as they are stored; where a codec may make
 * two texts of one input, its conflicts are judged anew here, by what the inputs say. Jobs that are there already
 * are left out then, and the rest is inserted without them, again all or none.
 */
export async function insertAll(
  producer: Producer,
  jobs: readonly Prepared[],
  client: unknown,
): Promise<Enqueued[]> {
  const place = placeOf(producer, client)
  const there = new Set<string>()
  for (;;) {
    const rest = jobs.filter(({ spec }) => !there.has(spec.id))
    const reply = await insert(producer, place, rest)
    if (reply.kind === 'inserted') return answers(jobs, reply.jobs)
    if (!producer.payloads.coded) throw new IdConflict(reply.ids)
    const named = rest.filter(({ spec }) => reply.ids.includes(spec.id))
    for (const id of await sameAsThere(producer.payloads, place, named)) there.add(id)
  }
}

/**
 * Where jobs go: into the store, or into a transaction of the caller's. What that fails with says nothing about the
 * health of the store.
 */
export function placeOf({ store, ask }: Producer, client: unknown): InsertsWithin {
  if (client === undefined) {
    return {
      insert: (params) => ask('jobs.insert', store.jobs.insert(params)),
      get: (params) => ask('jobs.get', store.jobs.get(params)),
    }
  }
  if (store.within) return store.within(client)
  throw new InvalidArgument(
    `in: the store ${store.name} has no transactions that a caller could begin; enqueue without it`,
  )
}

/** One call, whatever it answers. */
export async function insert(
  { random }: Producer,
  place: InsertsWithin,
  jobs: readonly Prepared[],
): Promise<InsertReply> {
  if (jobs.length === 0) return { kind: 'inserted', jobs: [] }
  return place.insert({
    insertId: random.id('insert'),
    jobs: jobs.map(({ spec, due }) => ({ spec, due })),
  })
}

/** In the order of the jobs asked for. */
export function answers(jobs: readonly Prepared[], inserted: readonly Enqueued[]): Enqueued[] {
  const created = new Map(inserted.map((job) => [job.id, job.created]))
  return jobs.map(({ spec: { id } }) => ({ id, created: created.get(id) ?? false }))
}

/** The ids of those that are there with the same kind and input. Throws `IdConflict` if others are not the same. */
async function sameAsThere(
  payloads: Payloads,
  place: InsertsWithin,
  jobs: readonly Prepared[],
): Promise<string[]> {
  const same: string[] = []
  const others: string[] = []
  for (const job of jobs) {
    const { id } = job.spec
    const there = await place.get({ id })
    // One that has gone meanwhile is in nobody's way.
    if (!there) continue
    const list = (await isSame(payloads, job, there)) ? same : others
    list.push(id)
  }
  if (others.length > 0) throw new IdConflict(others)
  return same
}

async function isSame(
  payloads: Payloads,
  { spec, json }: Prepared,
  there: NonNullable<Awaited<ReturnType<InsertsWithin['get']>>>,
): Promise<boolean> {
  if (there.spec.kind !== spec.kind) return false
  return sameJson(json, await payloads.plain(`the input of job ${spec.id}`, there.spec.input))
}
