import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { EventOf, HistoryEvent, HistoryType, WorldEvent } from '../../../src/engine/history.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { Intervals } from '../../../src/engine/settings.ts'
import { finalOf } from '../../../src/sim/history-of.ts'
import { postgresStore } from '../../../src/stores/postgres/index.ts'
import { type OwnServer, ownServer } from '../../support/postgres/server.ts'
import { type Proxy, createProxy } from '../../support/postgres/proxy.ts'
import { allEnded, clockAheadMs, factsOf, monotonicMs, watchDatabase } from './facts.ts'

/** What a worker process is started with, as its argument. */
export interface WorkerOptions {
  readonly name: string
  readonly url: string
  readonly file: string
  readonly skewMs: number
  readonly intervals: Partial<Intervals>
  readonly callMs: number
  readonly concurrency: number
}

/** Short, and in the same relation as the stock ones: 1,000 + 2 x 500 + 1,500 + 500 + 2 x 500 < 6,000. */
export const leaseTtlMs = 6_000
const callMs = 1_500
const intervals = {
  heartbeatMs: 1_000,
  heartbeatRetryMs: 500,
  sweepMs: 500,
  pollMs: 200,
  pollMsMax: 1_000,
  replyMs: 500,
  abandonMs: 2_000,
}

type Seen = { readonly type: HistoryType } & Record<string, unknown>

/** A worker process, seen from outside. */
export interface Worker {
  readonly name: string
  /** The way of this worker to the database, and of no other. */
  readonly proxy: Proxy
  /** The first event of that type that passes, be it past or to come. */
  saw<T extends HistoryType>(type: T, passes?: (event: EventOf<T>) => boolean): Promise<EventOf<T>>
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** A new process under the same name. */
  restart(): void
}

export interface Fleet {
  readonly server: OwnServer
  readonly workers: readonly Worker[]
  /** Stores a job whose handler takes so long. */
  enqueue(id: string, ms: number): Promise<void>
  /** The database is away from now on, by that fault: one mishap, in one instant. */
  goesDown(family: string): void
  /** Says what the test does, in the words of the simulation. */
  happened(event: WorldEvent, worker?: Worker): void
  struck(family: string, worker: Worker | null, call?: string | null, forMs?: number): void
  /** Waits for all jobs to end, stops everything, and answers what happened. */
  finish(): Promise<readonly HistoryEvent[]>
  /** What each worker said last: for a test that failed. */
  lastWords(): string
  /** Whatever came of it, nothing is left. */
  remove(): Promise<void>
}

interface Line {
  readonly ms: number
  readonly node: string
  readonly incarnation: number
  readonly event: object
}

export interface FleetOptions {
  /** Of each worker, how far its wall clock is off. */
  readonly skewsMs: readonly number[]
  readonly concurrency?: number
}

export async function startFleet({ skewsMs, concurrency = 2 }: FleetOptions): Promise<Fleet> {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-fidelity-'))
  const server = await ownServer(['track_commit_timestamp=on'])
  const store = postgresStore({ connectionString: named(server.url, 'client.1') }, { callMs })
  await store.migrate()
  await watchDatabase(server.url)
  const aheadMs = await clockAheadMs(server.url)
  const lines: Line[] = []
  const jobs: string[] = []
  const client = createEngine({ store, jobs: [work], intervals })
  const tell = (event: WorldEvent, node = 'env', incarnation = 0): void =>
    void lines.push({ ms: monotonicMs(), node, incarnation, event })

  const running: RunningWorker[] = []
  const { sweepMs, replyMs, abandonMs, pollMsMax } = intervals
  tell({
    type: 'run.started',
    sweepMs,
    storeCallMs: callMs,
    replyMs,
    abandonMs,
    pollMsMax,
    deadLetterMs: null,
  })
  for (const [n, skewMs] of skewsMs.entries()) {
    const name = `w${n + 1}`
    const proxy = await createProxy(server.url)
    running.push(startWorker({ name, proxy, skewMs, concurrency, directory, tell }))
  }
  await Promise.all(running.map((worker) => worker.saw('engine.started')))

  const fleet: Fleet = {
    server,
    workers: running,
    enqueue: async (id, ms) => {
      jobs.push(id)
      const { created } = await client.enqueue(work, { ms }, { id, leaseTtlMs })
      tell({ type: 'enqueue.acknowledged', job: id, created, tries: 1 }, 'client', 1)
    },
    goesDown: (family) => {
      const ms = monotonicMs()
      const fault = { type: 'fault.struck', fault: family, family, call: null, forMs: 0 } as const
      const down = { type: 'database.down', forMs: 0 } as const
      for (const event of [fault, down]) lines.push({ ms, node: 'env', incarnation: 0, event })
    },
    happened: (event, worker) =>
      tell(event, worker?.name, (worker as RunningWorker | undefined)?.incarnation),
    struck: (family, worker, call = null, forMs = 0) => {
      const event = { type: 'fault.struck', fault: family, family, call, forMs } as const
      tell(event, worker?.name, (worker as RunningWorker | null)?.incarnation)
    },
    finish: async () => {
      tell({ type: 'run.healed', boundMs: 30_000 })
      await allEnded(server.url, jobs.length)
      await Promise.all(running.map((worker) => worker.stop()))
      const { jobs: finals, claims } = await store.dump()
      for (const job of finals) tell(finalOf(job))
      const tokens = claims.filter((claim) => !claim.void).map(({ token }) => token)
      tell({ type: 'run.ended', converged: true, tokens })
      const facts = (await factsOf(server.url)).map(({ ms, ...fact }) => ({ ms: ms - aheadMs, ...fact }))
      return merged([...lines, ...running.flatMap((worker) => worker.lines()), ...facts])
    },
    lastWords: () =>
      running
        .map((worker) =>
          [
            `${worker.name} (${worker.alive ? 'alive' : 'dead'}):`,
            ...worker.lines().slice(-12).map(wordOf),
          ].join('\n  '),
        )
        .join('\n'),
    remove: async () => {
      for (const worker of running) await worker.end()
      await store.close()
      await server.remove()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return fleet
}

const work = defineJob<{ readonly ms: number }>({
  name: 'work',
  retry: { maxAttempts: 3, backoff: { kind: 'constant', delayMs: 200 } },
})

interface RunningWorker extends Worker {
  readonly incarnation: number
  readonly alive: boolean
  /** What all its processes wrote. */
  lines(): Line[]
  stop(): Promise<void>
  end(): Promise<void>
}

interface Launch {
  readonly name: string
  readonly proxy: Proxy
  readonly skewMs: number
  readonly concurrency: number
  readonly directory: string
  readonly tell: (event: WorldEvent, node: string, incarnation: number) => void
}

const program = new URL('../worker.mjs', import.meta.url)

function startWorker({ name, proxy, skewMs, concurrency, directory, tell }: Launch): RunningWorker {
  const seen: Seen[] = []
  const files: string[] = []
  const waiting = new Set<() => void>()
  let child: ChildProcess
  let alive = false

  function launch(): void {
    const file = path.join(directory, `${name}.${files.length + 1}.jsonl`)
    files.push(file)
    const url = named(proxy.url, `${name}.${files.length}`)
    const options: WorkerOptions = { name, url, file, skewMs, intervals, callMs, concurrency }
    child = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    alive = true
    child.on('message', (event) => {
      seen.push(event as Seen)
      for (const look of waiting) look()
    })
    child.once('exit', () => (alive = false))
  }

  async function gone(how: () => void): Promise<void> {
    if (!alive) return
    const exit = once(child, 'exit')
    how()
    await exit
  }

  launch()
  return {
    name,
    proxy,
    get alive() {
      return alive
    },
    get incarnation() {
      return files.length
    },
    saw: (type, passes = () => true) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = seen.find((event) => event.type === type && passes(event as never))
          if (!found) return
          waiting.delete(look)
          resolve(found as never)
        }
        waiting.add(look)
        look()
      }),
    kill: async () => {
      await gone(() => void child.kill('SIGKILL'))
      tell({ type: 'node.crashed' }, name, files.length)
    },
    freeze: () => {
      child.kill('SIGSTOP')
      tell({ type: 'node.paused', forMs: 0 }, name, files.length)
    },
    thaw: () => {
      tell({ type: 'node.resumed' }, name, files.length)
      child.kill('SIGCONT')
    },
    restart: launch,
    lines: () => files.flatMap((file, n) => linesOf(file, name, n + 1)),
    stop: () => gone(() => void child.send({ drainMs: 10_000 })),
    end: async () => {
      await gone(() => {
        child.kill('SIGCONT')
        child.kill('SIGKILL')
      })
      await proxy.close()
    },
  }
}

function wordOf({ ms, event }: Line): string {
  return `${Math.round(ms)} ${JSON.stringify(event)}`
}

/** A process that was killed may have left half a line. */
function linesOf(file: string, node: string, incarnation: number): Line[] {
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return whole.map((text) => {
    const { ns, event } = JSON.parse(text) as { readonly ns: string; readonly event: object }
    return { ms: monotonicMs(BigInt(ns)), node, incarnation, event }
  })
}

function merged(lines: readonly Line[]): HistoryEvent[] {
  const [first] = lines as [Line, ...Line[]]
  return [...lines]
    .sort((a, b) => a.ms - b.ms)
    .map(({ ms, node, incarnation, event }) => {
      return { ...event, atMs: ms - first.ms, node, incarnation } as HistoryEvent
    })
}

function named(url: string, who: string): string {
  const target = new URL(url)
  target.searchParams.set('application_name', who)
  return target.href
}
