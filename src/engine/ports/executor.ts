/**
 * Runs a handler. The default calls it in this process; isolated execution will be further
 * implementations of the same port.
 */
export interface Executor {
  run(job: { readonly id: string; readonly epoch: number }, handler: () => Promise<unknown>): Promise<unknown>
}

export const inProcessExecutor: Executor = { run: (_job, handler) => handler() }
