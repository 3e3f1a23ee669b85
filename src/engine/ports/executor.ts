/**
 * Runs a handler. The default calls it in this process; isolated execution will be further
 * implementations of the same port.
 */
export interface Executor {
  /** Answers, or throws, what the handler does; either may be at once. */
  run(job: { readonly id: string; readonly epoch: number }, handler: () => unknown): unknown
}

export const inProcessExecutor: Executor = { run: (_job, handler) => handler() }
