import type { Engine, EngineOptions } from '../../engine/api.ts'
import { createEngine } from '../../engine/engine.ts'
import { InvalidArgument } from '../../engine/errors.ts'
import { requireObject } from '../../engine/given.ts'
import { type JobRecord, isTerminal } from '../../engine/jobs/record.ts'
import { sleep } from '../../engine/ports/clock.ts'
import type { Store } from '../../engine/ports/store.ts'
import { systemClock } from '../../engine/system.ts'
import { inert } from '../../report/format.ts'
import { imported } from '../../sim/catalogue.ts'
import { moduleUrl } from '../options.ts'
import { type ExitCode, type PlaceOptions, atPlace } from '../place.ts'

export interface WorkerOptions extends PlaceOptions {
  /** As `name=concurrency`. */
  readonly queue?: readonly string[]
  readonly name?: string
  /** The id of the one job to work on. */
  readonly once?: string
  readonly drainSeconds: number
  /** With `once`: how long to wait for the job to become due. */
  readonly waitSeconds: number
}

type Offered = Omit<EngineOptions, 'store'>

/**
 * Works on the jobs of a module until it is told to stop: at the first SIGTERM or SIGINT it claims nothing more and
 * drains; at the second it ends at once, and its leases lapse. With `once` it works on one job and ends:
 * 0 succeeded, 1 it did not, 3 it could not be had. The process is over then, whatever the module keeps going.
 */
export async function worker(module: string, options: WorkerOptions): Promise<ExitCode> {
  const offered = offeredBy((await imported(moduleUrl(module))).default)
  return atPlace(options, async (store) => {
    const { once } = options
    const job = once === undefined ? null : await jobNamed(store, once, offered)
    if (job && isTerminal(job.state)) {
      say(`job ${inert(job.spec.id)}: ${job.state} already`)
      return job.state === 'succeeded' ? 0 : 1
    }
    const queues = job ? { [job.spec.queue]: { concurrency: 1 } } : queuesOf(options.queue, offered)
    const named = { ...(options.name !== undefined && { name: options.name }) }
    const engine = createEngine({ ...offered, store, queues, ...named, ...(job && { only: job.spec.id }) })
    const told = untilTold(engine, options)
    engine.on('store.failed', tellOnce('the database does not answer; goes on trying'))
    try {
      await engine.start()
      if (engine.health().status !== 'stopped') {
        say(
          job
            ? `waits for job ${inert(job.spec.id)}`
            : `works on ${queuesSaid(queues)}; stop it with SIGTERM or ^C`,
        )
      }
      return job ? await ended(engine, job, options, told.stopped) : await told.stopped
    } finally {
      told.forget()
      await engine.stop({ drainMs: options.drainSeconds * 1_000 })
    }
  })
}

function offeredBy(exported: unknown): Offered {
  if (Array.isArray(exported)) return { jobs: exported as NonNullable<Offered['jobs']> }
  requireObject(
    "the module's default export (a list of jobs, or options of an engine)",
    exported,
    InvalidArgument,
  )
  if ('store' in exported) throw new InvalidArgument('the store comes from --database-url or --file')
  return exported
}

function queuesOf(given: readonly string[] | undefined, { queues }: Offered): NonNullable<Offered['queues']> {
  if (!given?.length) {
    if (queues && Object.keys(queues).length > 0) return queues
    throw new InvalidArgument('which queues? say --queue NAME=CONCURRENCY, or export { jobs, queues }')
  }
  return Object.fromEntries(
    given.map((text) => {
      const [, name, concurrency] = /^(.+)=([1-9][0-9]{0,5})$/.exec(text) ?? []
      if (name !== undefined) return [name, { concurrency: Number(concurrency) }]
      throw new InvalidArgument(`--queue takes NAME=CONCURRENCY, not ${JSON.stringify(text)}`)
    }),
  )
}

function queuesSaid(queues: NonNullable<Offered['queues']>): string {
  return Object.entries(queues)
    .map(([name, { concurrency }]) => `${inert(name)} (${concurrency} at a time)`)
    .join(', ')
}

async function jobNamed(store: Store, id: string, { jobs = [] }: Offered): Promise<JobRecord> {
  const job = await store.jobs.get({ id })
  if (!job) throw new InvalidArgument(`there is no job ${id}`)
  const { kind } = job.spec
  if (jobs.some(({ name }) => name === kind)) return job
  throw new InvalidArgument(`job ${id} is of kind ${kind}, which the module has no job for`)
}

/** Resolves when a signal asked for the end. */
function untilTold(
  engine: Engine,
  { drainSeconds }: WorkerOptions,
): { readonly stopped: Promise<ExitCode>; readonly forget: () => void } {
  let signals = 0
  let resolve: (code: ExitCode) => void = () => {}
  const stopped = new Promise<ExitCode>((done) => (resolve = done))
  const onSignal = (): void => {
    signals += 1
    if (signals > 1) process.exit(1)
    say(`claims nothing more; waits up to ${drainSeconds} s for what runs`)
    void engine.stop({ drainMs: drainSeconds * 1_000 }).then(() => resolve(0))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal)
  return {
    stopped,
    forget: () => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, onSignal)
    },
  }
}

/** How the one attempt at the job ended; 3 if it could not be had in time, or this process was told to stop. */
async function ended(
  engine: Engine,
  { spec: { id } }: JobRecord,
  { waitSeconds }: WorkerOptions,
  stopped: Promise<ExitCode>,
): Promise<ExitCode> {
  let resolve: (how: 'over') => void = () => {}
  const over = new Promise<'over'>((done) => (resolve = done))
  let began = false
  engine.on('attempt.started', () => (began = true))
  for (const type of ['attempt.confirmed', 'attempt.lost'] as const) engine.on(type, () => resolve('over'))
  const patience = new AbortController()
  const late = sleep(systemClock, waitSeconds * 1_000, 'once', patience.signal).then(
    () => (began ? over : ('late' as const)),
    () => over,
  )
  const first = await Promise.race([over, stopped, late])
  patience.abort()
  const job = await engine.get(id)
  const state = job?.state ?? 'gone'
  if (first === 'over') {
    const error = job?.error ? `: ${inert(`${job.error.code} ${job.error.message}`)}` : ''
    say(`job ${inert(id)}: ${state}${error}`)
    return state === 'succeeded' ? 0 : 1
  }
  say(`job ${inert(id)} could not be had within ${waitSeconds} s: it is ${state}`)
  return 3
}

/** What goes on for long is not said again and again. */
function tellOnce(text: string): () => void {
  let told = false
  return () => {
    if (!told) say(text)
    told = true
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
