import { StoreUnavailable } from '../errors.ts'
import type { EventOf } from '../history.ts'
import type { Log } from '../jobs/context.ts'
import type { Timer } from '../ports/clock.ts'
import type { LogLevel } from '../ports/logs.ts'
import type { ClaimedJob } from '../ports/store.ts'
import type { WorkerParts } from '../worker/parts.ts'
import { createWake, type Wake } from '../worker/wake.ts'
import { lineText } from './line.ts'
import { createPending, type Pending } from './pending.ts'

/** What is said in such a time goes together: few watch a log more closely, and each append is a commit. */
const lingerMs = 100

/**
 * The log of one attempt, on its way to the store. What is said while an append is in flight goes with the next. While
 * the store is away lines wait, as many as fit; an append whose outcome is unknown is sent again, the store knows its
 * lines. Nothing of it ever throws at the handler, or keeps it waiting.
 */
export class AttemptLog {
  readonly log: Log
  readonly #parts: WorkerParts
  readonly #job: ClaimedJob
  /** Told of what must be waited for before the store may be closed. */
  readonly #sending: (running: Promise<void>) => void
  readonly #pending: Pending = createPending()
  readonly #retry: Wake
  #running: Promise<void> | null = null
  #linger: Timer | null = null
  #sealed = false
  #over = false

  constructor(parts: WorkerParts, job: ClaimedJob, sending: (running: Promise<void>) => void) {
    this.#parts = parts
    this.#job = job
    this.#sending = sending
    this.#retry = createWake(parts.clock)
    const at =
      (level: LogLevel) =>
      (message: unknown, fields?: unknown): void =>
        this.#say(level, message, fields)
    this.log = Object.assign(at('info'), {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
    })
  }

  /** Nothing is on its way, or waits to be. */
  get atRest(): boolean {
    return this.#pending.size === 0 && this.#running === null
  }

  /** What is said from now on is not heard: the attempt is over. */
  seal(): void {
    if (this.#sealed) return
    this.#sealed = true
    this.#pending.close()
  }

  /** Null: there is nothing to wait for. Resolves when all has been sent, or after the time of one store call. */
  flush(): Promise<void> | null {
    if (this.atRest) return null
    this.#send()
    this.#retry.wake()
    const { clock, store } = this.#parts
    return new Promise((resolve) => {
      const bound = clock.timer(store.callMs, 'log-flush', resolve)
      void this.#running?.then(() => {
        bound.cancel()
        resolve()
      })
    })
  }

  /** What has not been taken by now is lost: whoever waited for it waits no longer. */
  drop(why: EventOf<'log.lost'>['why']): void {
    this.seal()
    this.#over = true
    this.#linger?.cancel()
    this.#lost(this.#pending.size, why)
    this.#retry.wake()
  }

  #say(level: LogLevel, message: unknown, fields: unknown): void {
    if (this.#sealed) return
    this.#pending.add(level, () => lineText(message, fields))
    if (this.#running) return
    if (this.#pending.isBatch) this.#send()
    else this.#linger ??= this.#parts.clock.timer(lingerMs, 'log', () => this.#send())
  }

  #send(): void {
    this.#linger?.cancel()
    this.#linger = null
    if (this.#running || this.#pending.size === 0) return
    this.#running = this.#run()
    this.#sending(this.#running)
  }

  async #run(): Promise<void> {
    while (this.#pending.size > 0 && !this.#over) await this.#append()
    this.#running = null
  }

  async #append(): Promise<void> {
    const { store, ask, intervals, measure } = this.#parts
    const { spec, epoch, seq } = this.#job
    const lines = this.#pending.batch()
    try {
      const { applied } = await ask('logs.append', store.logs.append({ id: spec.id, epoch, seq, lines }))
      if (this.#over) return
      if (!applied) return this.drop('fenced')
      this.#pending.taken(lines.length)
      measure?.({ name: 'log.lines', queue: spec.queue, kind: spec.kind, lines: lines.length })
    } catch (error) {
      if (this.#over) return
      if (!(error instanceof StoreUnavailable)) return this.#lost(lines.length, 'refused')
      await this.#retry.wait(intervals.heartbeatRetryMs, 'log-retry')
    }
  }

  #lost(lines: number, why: EventOf<'log.lost'>['why']): void {
    if (lines === 0) return
    this.#pending.taken(lines)
    this.#parts.emit({ type: 'log.lost', job: this.#job.spec.id, epoch: this.#job.epoch, lines, why })
  }
}
