import { afterEach, beforeEach, expect } from 'vitest'
import { setImmediate as turn } from 'node:timers/promises'

/**
 * Traps rejections that nobody handles, in every test of the file that calls it. A test that leaves one
 * fails, unless it takes it out of the list that is answered, because it was the user's.
 */
export function trapUnhandledRejections(): unknown[] {
  const trapped: unknown[] = []
  const trap = (reason: unknown): void => void trapped.push(reason)
  let others: NodeJS.UnhandledRejectionListener[] = []

  beforeEach(() => {
    trapped.length = 0
    others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', trap)
  })

  afterEach(async () => {
    await turn()
    process.off('unhandledRejection', trap)
    for (const other of others) process.on('unhandledRejection', other)
    expect(trapped).toEqual([])
  })

  return trapped
}
