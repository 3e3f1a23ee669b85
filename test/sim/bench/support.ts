// Benches of a few lines: a till that takes payments, rightly or wrongly.
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { EventOf } from '../../../src/engine/history.ts'
import { type Property, property } from '../../../src/properties/index.ts'
import { type Bench, type BenchOptions, bench, service } from '../../../src/sim/index.ts'

interface Charge {
  readonly key: string
  readonly order: string
}

interface Paid {
  readonly order: string
  readonly repeated: boolean
}

export const payments = service({
  name: 'payments',
  state: (): { keys: Record<string, string> } => ({ keys: {} }),
  calls: {
    charge: (state, { key, order }: Charge): Paid => {
      const repeated = state.keys[key] !== undefined
      state.keys[key] ??= order
      return { order, repeated }
    },
    count: (state): number => Object.keys(state.keys).length,
  },
})

export const order = defineJob<{ cents: number }>({ name: 'order', retry: { maxAttempts: 6 } })

export const chargedOnce: Property = property({
  name: 'charged-once',
  kind: 'always',
  says: 'No order is charged twice.',
  blindSpot: 'Does not look at the amount.',
  on: ['service.called'],
  suspendedBy: [],
  start: (): Record<string, number> => ({}),
  step(charges, event: EventOf<'service.called'>, verdict) {
    if (event.call !== 'charge') return
    const { order: of, repeated } = event.reply as Paid
    if (repeated) return
    verdict.evaluated()
    charges[of] = (charges[of] ?? 0) + 1
    if (charges[of] > 1)
      verdict.violated({ kind: 'twice', subject: of, message: `order ${of} is charged ${charges[of]} times` })
  },
})

type Services = readonly [typeof payments]

/** `byAttempt`: with the mistake that the key of a payment has the number of the attempt. */
export function till(byAttempt: boolean, over: Partial<BenchOptions<Services>> = {}): Bench {
  return bench<Services>({
    name: 'till',
    activeMs: 120_000,
    services: [payments],
    jobs: ({ payments: port }) => [
      order.handle(async ({ job, attempt, signal }) =>
        port.charge({ key: byAttempt ? `${job.id}-${attempt.number}` : job.id, order: job.id }, { signal }),
      ),
    ],
    workload: ({ enqueue, draw, activeMs }) => {
      for (let k = 0; k < 10; k++)
        enqueue(order, { cents: draw(100, 'cents', k) }, { id: `order-${k}`, atMs: draw(activeMs, 'at', k) })
    },
    properties: [chargedOnce],
    ...over,
  })
}
