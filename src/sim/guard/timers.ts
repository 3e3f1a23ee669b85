// Turns of the real event loop: timers, immediates, message channels. `queueMicrotask` and
// `process.nextTick` stay free: the barrier drains both, in an order that is Node's and always the same.
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import workerThreads from 'node:worker_threads'
import type { Patcher } from './patcher.ts'

export function patchTimers(patcher: Patcher): void {
  for (const key of ['setTimeout', 'setInterval', 'setImmediate']) {
    patcher.calls(globalThis, key, key)
    patcher.calls(timers, key, key)
    patcher.calls(timersPromises, key, `timers/promises.${key}`)
  }
  const scheduler = Object.getPrototypeOf(timersPromises.scheduler) as object
  patcher.calls(scheduler, 'wait', 'timers/promises.scheduler.wait')
  patcher.calls(scheduler, 'yield', 'timers/promises.scheduler.yield')
  patcher.calls(AbortSignal, 'timeout', 'AbortSignal.timeout')
  for (const owner of [globalThis, workerThreads]) {
    patcher.constructions(owner, 'MessageChannel')
    patcher.constructions(owner, 'BroadcastChannel')
  }
}
