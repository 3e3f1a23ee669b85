/**
 * An abort signal that is made when somebody looks at it: most handlers never do, and it is dear. (So is a getter in
 * an object that every attempt makes anew, forty times a field's price: here and in its neighbours are none.)
 */
export interface LazySignal {
  signal(): AbortSignal
  abort(reason: Error): void
}

export function createLazySignal(): LazySignal {
  let controller: AbortController | null = null
  let reason: Error | undefined
  return {
    signal: () => {
      if (!controller) {
        controller = new AbortController()
        if (reason) controller.abort(reason)
      }
      return controller.signal
    },
    abort: (why) => {
      if (reason) return
      reason = why
      controller?.abort(why)
    },
  }
}
