/** An abort signal that is made when somebody looks at it: most handlers never do, and it is dear. */
export interface LazySignal {
  readonly signal: AbortSignal
  /** What it was aborted with first; undefined before. */
  readonly reason: unknown
  abort(reason: Error): void
}

export function createLazySignal(): LazySignal {
  let controller: AbortController | null = null
  let reason: Error | undefined
  return {
    get signal() {
      if (!controller) {
        controller = new AbortController()
        if (reason) controller.abort(reason)
      }
      return controller.signal
    },
    get reason() {
      return reason
    },
    abort: (why) => {
      if (reason) return
      reason = why
      controller?.abort(why)
    },
  }
}
