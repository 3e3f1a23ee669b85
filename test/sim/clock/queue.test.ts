import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type WorldEvent, createQueue } from '../../../src/sim/clock/queue.ts'

const event = (atMs: number, node: number, ordinal: number, live = true): WorldEvent => ({
  atMs,
  node,
  ordinal,
  made: ordinal,
  owner: null,
  live,
  label: `${atMs}/${node}/${ordinal}`,
  fire: () => {},
  about: null,
})

function popAll(queue: ReturnType<typeof createQueue>): string[] {
  const labels: string[] = []
  for (let next = queue.pop(); next; next = queue.pop()) labels.push(next.label)
  return labels
}

test('time decides, then the node, then the order in which the node made them', () => {
  const queue = createQueue()
  for (const [at, node, ordinal] of [
    [5, 1, 1],
    [1, 2, 9],
    [1, 2, 3],
    [1, 0, 7],
    [0, 9, 1],
  ] as const)
    queue.push(event(at, node, ordinal))
  expect(popAll(queue)).toEqual(['0/9/1', '1/0/7', '1/2/3', '1/2/9', '5/1/1'])
})

test('a cancelled event is passed over, also when it was cancelled in the queue', () => {
  const queue = createQueue()
  const cancelled = event(1, 1, 2)
  queue.push(event(1, 1, 1, false))
  queue.push(cancelled)
  queue.push(event(2, 1, 3))
  cancelled.live = false
  expect(popAll(queue)).toEqual(['2/1/3'])
  expect(queue.pop()).toBeUndefined()
})

test('is a sorted list, whatever is pushed, popped and cancelled', () => {
  const operation = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.constant('push'), fc.nat(5), fc.nat(3)) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('pop'), fc.constant(0), fc.constant(0)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('cancel'), fc.nat(), fc.constant(0)) },
  )
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const queue = createQueue()
      let list: WorldEvent[] = []
      let ordinal = 0
      const popped: [string | undefined, string | undefined][] = []
      for (const [what, x, node] of operations) {
        if (what === 'push') {
          const pushed = event(x, node, ++ordinal)
          queue.push(pushed)
          list.push(pushed)
          list.sort((a, b) => a.atMs - b.atMs || a.node - b.node || a.ordinal - b.ordinal)
        } else if (what === 'pop') {
          popped.push([queue.pop()?.label, list.shift()?.label])
        } else if (list.length > 0) {
          const at = x % list.length
          for (const cancelled of list.slice(at, at + 1)) cancelled.live = false
          list = list.filter(({ live }) => live)
        }
      }
      for (const [label, expected] of popped) expect(label).toBe(expected)
      expect(popAll(queue)).toEqual(list.map(({ label }) => label))
    }),
  )
})

test('events that are moved come at their new time, the others as before', () => {
  const queue = createQueue()
  for (const ordinal of [1, 2, 3, 4, 5, 6]) queue.push(event(10 * ordinal, ordinal % 2, ordinal))
  queue.retime(
    ({ node }) => node === 1,
    ({ atMs }) => 100 - atMs,
  )
  expect(popAll(queue)).toEqual(['20/0/2', '40/0/4', '50/1/5', '60/0/6', '30/1/3', '10/1/1'])
})
