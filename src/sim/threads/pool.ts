import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { HoldfastError } from '../../engine/errors.ts'
import type { Judged, RunRequest } from '../judge.ts'
import type { FromThread, StoreChoice, ThreadData } from './protocol.ts'

/** A thread could not be started: most often the user's module cannot be imported. */
class ThreadFailed extends HoldfastError {
  readonly code = 'THREAD_FAILED'
}

/** What became of a request: a result, a run that never came back and was killed, or one that ended its thread. */
export type Ran =
  | { readonly kind: 'result'; readonly result: Judged }
  | { readonly kind: 'hung'; readonly request: RunRequest; readonly silentMs: number }
  | { readonly kind: 'died'; readonly request: RunRequest; readonly message: string }

/** The store under the runs of the k-th thread. */
export type StoreFor = (thread: number) => StoreChoice

export interface PoolOptions {
  readonly url: string | null
  readonly store: StoreFor
  /** Default: one a core. */
  readonly threads?: number
  /** A run that shows no sign of life for so long is killed; default 10,000. */
  readonly silentMsMax?: number
  /** The next request, or null when there is none (any more). */
  readonly next: () => { readonly index: number; readonly request: RunRequest } | null
  /** Called as the answers come, in no order. */
  readonly done: (index: number, ran: Ran) => void
}

/** Deals requests to threads until there are none, and watches that every run goes on. */
export async function runPool(options: PoolOptions): Promise<void> {
  const threads = options.threads ?? availableParallelism()
  let started = 0
  const one = (): Promise<boolean> => oneThread(options, () => options.store(++started))
  await Promise.all(Array.from({ length: threads }, () => lane(one)))
}

/** One thread after another: a new one takes over when a hung one was killed. */
async function lane(oneThread: () => Promise<boolean>): Promise<void> {
  let more = true
  while (more) more = await oneThread()
}

/** A PGlite takes seconds to make, and more where all threads make theirs at once. */
const loadMsMax = 60_000
const preload = new URL('../guard/preload.js', import.meta.url)
const entry = new URL('./thread.js', import.meta.url)

/** Resolves to true if another thread should take over. */
function oneThread(
  { url, silentMsMax = 10_000, next, done }: PoolOptions,
  store: () => StoreChoice,
): Promise<boolean> {
  let at = next()
  if (!at) return Promise.resolve(false)
  const heartbeat = new SharedArrayBuffer(4)
  const workerData: ThreadData = { url, store: store(), heartbeat }
  const thread = new Worker(entry, { workerData, execArgv: ['--import', preload.href] })
  const counter = new Int32Array(heartbeat)
  return new Promise((resolve, reject) => {
    let seen = { count: -1, atMs: performance.now() }
    const watchdog = setInterval(() => {
      const count = Atomics.load(counter, 0)
      const nowMs = performance.now()
      if (count !== seen.count) seen = { count, atMs: nowMs }
      const silentMs = Math.round(nowMs - seen.atMs)
      if (!running && silentMs >= loadMsMax) {
        over(() =>
          reject(new ThreadFailed(`the scenarios and the store were not there within ${loadMsMax} ms`)),
        )
      } else if (running && at && silentMs >= silentMsMax) {
        done(at.index, { kind: 'hung', request: at.request, silentMs })
        over(() => resolve(true))
      }
    }, 100)
    let running = false

    function over(how: () => void): void {
      clearInterval(watchdog)
      thread.removeAllListeners()
      thread.on('error', () => {})
      void thread.terminate().then(how, how)
    }

    function died(message: string, cause?: unknown): void {
      if (!running || !at) return over(() => reject(new ThreadFailed(message, { cause })))
      done(at.index, { kind: 'died', request: at.request, message })
      over(() => resolve(true))
    }

    function deal(): void {
      if (!at) return over(() => resolve(false))
      running = true
      seen = { ...seen, atMs: performance.now() }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage(at)
    }

    thread.on('message', (message: FromThread) => {
      if (message.kind === 'refused') return over(() => reject(new ThreadFailed(message.message)))
      if (message.kind === 'result') {
        running = false
        done(message.index, { kind: 'result', result: message.result })
        at = next()
      }
      deal()
    })
    thread.on('error', (error) =>
      died(error instanceof Error ? (error.stack ?? error.message) : String(error), error),
    )
    thread.on('exit', (code) => died(`a simulation thread ended with code ${code}`))
  })
}
