import timers from 'node:timers'
import timersPromises, { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import workerThreads from 'node:worker_threads'
import { expect, test } from 'vitest'
import { leakOf, lineAt } from './leaks.ts'

const nothing = (): void => {}

const leaks: [what: string, call: () => unknown][] = [
  ['setTimeout', () => clearTimeout(setTimeout(nothing, 1))],
  ['setTimeout', () => clearTimeout(timers.setTimeout(nothing, 1))],
  ['setInterval', () => clearInterval(setInterval(nothing, 1))],
  ['setInterval', () => clearInterval(timers.setInterval(nothing, 1))],
  ['setImmediate', () => clearImmediate(setImmediate(nothing))],
  ['setImmediate', () => clearImmediate(timers.setImmediate(nothing))],
  ['timers/promises.setTimeout', () => sleep(1)],
  ['timers/promises.setTimeout', () => promisify(setTimeout)(1)],
  ['timers/promises.setTimeout', () => timers.promises.setTimeout(1)],
  ['timers/promises.setImmediate', () => timersPromises.setImmediate()],
  ['timers/promises.setImmediate', () => promisify(setImmediate)()],
  ['timers/promises.setInterval', () => timersPromises.setInterval(1)],
  ['timers/promises.scheduler.wait', () => timersPromises.scheduler.wait(1)],
  ['timers/promises.scheduler.yield', () => timersPromises.scheduler.yield()],
  ['AbortSignal.timeout', () => AbortSignal.timeout(1)],
  ['new MessageChannel()', () => new MessageChannel().port1.close()],
  ['new MessageChannel()', () => new workerThreads.MessageChannel().port1.close()],
  ['new BroadcastChannel()', () => new BroadcastChannel('a').close()],
  ['new BroadcastChannel()', () => new workerThreads.BroadcastChannel('a').close()],
]

test.each(leaks)('%s, armed, is a leak at the line that calls it: %s', (what, call) => {
  const leak = leakOf(call)
  expect(leak?.what).toBe(what)
  expect(lineAt(leak?.site ?? '')).toContain(`['${what}', () =>`)
})

test.each<[call: () => unknown]>([
  [() => queueMicrotask(nothing)],
  [() => process.nextTick(nothing)],
  [() => Promise.resolve().then(nothing)],
  [() => structuredClone({ a: new Map([[1, new Date(5)]]) })],
  [() => clearTimeout(undefined)],
  [() => new AbortController().abort()],
  [() => AbortSignal.abort()],
  [() => console.log('printed by a test of the guard')],
  [() => console.error('printed by a test of the guard')],
])('what the barrier drains, and what only prints, is no leak: %s', (call) => {
  expect(leakOf(call)).toBeNull()
})

test('disarmed, timers and channels work and keep their identities', async () => {
  expect(timers.setTimeout).toBe(setTimeout)
  expect(promisify(setTimeout)).toBe(sleep)
  expect(workerThreads.MessageChannel).toBe(MessageChannel)
  expect(await sleep(1, 'slept')).toBe('slept')
  expect(await promisify(setTimeout)(1, 'slept')).toBe('slept')
  const { port1, port2 } = new MessageChannel()
  expect(port1).toBeInstanceOf(MessagePort)
  const received = new Promise((resolve) => port2.once('message', resolve))
  port1.postMessage('sent')
  expect(await received).toBe('sent')
  port1.close()
  class Named extends BroadcastChannel {}
  const channel = new Named('a')
  expect(channel).toBeInstanceOf(Named)
  expect(channel).toBeInstanceOf(BroadcastChannel)
  channel.close()
})
