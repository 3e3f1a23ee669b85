// One watched thread that runs seeds of one bundle, one after another. A run that hangs or kills the thread is an
// answer, too; the next run gets a new thread.
import { Worker } from 'node:worker_threads'

/**
 * @typedef {import('../../src/sim/judge.ts').RunRequest} RunRequest
 * @typedef {import('../../src/sim/judge.ts').Judged} RunResult
 * @typedef {import('../../src/sim/threads/protocol.ts').FromThread} FromThread
 *
 * @typedef {{ readonly kind: 'result', readonly result: RunResult }
 *   | { readonly kind: 'hung' | 'crashed', readonly detail: string }} Ran
 */

const silentMsMax = 5_000

export class Thread {
  /** @type {Promise<Worker | null> | null} */
  #worker = null
  #heartbeat = new SharedArrayBuffer(4)
  #code
  #preload

  /**
   * @param {string} code `src/sim/threads/thread.ts`, bundled as CommonJS.
   * @param {string} preload The leak guard's preload, bundled as a module.
   */
  constructor(code, preload) {
    this.#code = code
    this.#preload = preload
  }

  /**
   * Resolves when it can run something, with null if it cannot; it need not be called.
   * @returns {Promise<Worker | null>}
   */
  async ready() {
    return (this.#worker ??= this.#start())
  }

  /**
   * @param {RunRequest} request
   * @returns {Promise<Ran>}
   */
  async run(request) {
    const thread = await this.ready()
    if (!thread) return { kind: 'crashed', detail: 'the thread would not start' }
    const counter = new Int32Array(this.#heartbeat)
    return new Promise((resolve) => {
      let seen = { count: -1, atMs: performance.now() }
      const watchdog = setInterval(() => {
        const count = Atomics.load(counter, 0)
        const nowMs = performance.now()
        if (count !== seen.count) seen = { count, atMs: nowMs }
        else if (nowMs - seen.atMs >= silentMsMax) {
          end({ kind: 'hung', detail: `no sign of life for ${silentMsMax} ms` })
        }
      }, 100)

      /** @param {Ran} ran */
      const end = (ran) => {
        clearInterval(watchdog)
        thread.off('message', answered).off('error', failed).off('exit', ended)
        if (ran.kind === 'result') return resolve(ran)
        this.#worker = null
        thread.on('error', () => {})
        const over = () => resolve(ran)
        thread.terminate().then(over, over)
      }
      const answered = (/** @type {FromThread} */ message) => {
        if (message.kind === 'result') end({ kind: 'result', result: message.result })
        if (message.kind === 'refused') end({ kind: 'crashed', detail: message.message })
      }
      const failed = (/** @type {Error} */ error) =>
        end({ kind: 'crashed', detail: String(error.stack ?? error) })
      const ended = (/** @type {number} */ code) =>
        end({ kind: 'crashed', detail: `the thread ended with code ${code}` })
      thread.on('message', answered).on('error', failed).on('exit', ended)
      /** @type {import('../../src/sim/threads/protocol.ts').ToThread} */
      const message = { index: 0, request }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
      thread.postMessage(message)
    })
  }

  async close() {
    const worker = await this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  /** @returns {Promise<Worker | null>} */
  #start() {
    const worker = new Worker(this.#code, {
      eval: true,
      workerData: { url: null, heartbeat: this.#heartbeat },
      execArgv: ['--import', `data:text/javascript,${encodeURIComponent(this.#preload)}`],
    })
    return new Promise((resolve) => {
      const failed = () => {
        this.#worker = null
        resolve(null)
      }
      worker.once('error', failed)
      worker.once('message', (/** @type {FromThread} */ message) => {
        worker.off('error', failed)
        if (message.kind === 'ready') resolve(worker)
        else failed()
      })
    })
  }
}
