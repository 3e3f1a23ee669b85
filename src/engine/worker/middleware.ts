import type { AttemptContext } from '../jobs/context.ts'

/** Wraps every handler: runs before, after, or in place of it. The first in the list is the outermost. */
export type Middleware = (context: AttemptContext<unknown>, next: () => Promise<unknown>) => Promise<unknown>

/** The handler within all middleware. A second `next` of one middleware runs nothing, and rejects. */
export function wrapped(
  middleware: readonly Middleware[],
  context: AttemptContext<unknown>,
  handler: () => unknown,
): Promise<unknown> {
  const from = async (k: number): Promise<unknown> => {
    const layer = middleware[k]
    if (!layer) return handler()
    let called = false
    return layer(context, async () => {
      if (called) throw new TypeError('a middleware called next() twice: a handler runs once an attempt')
      called = true
      return from(k + 1)
    })
  }
  return from(0)
}
