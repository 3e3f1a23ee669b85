// A small shop: an order is paid, then its receipt is mailed. The payment service and the mail server are fakes, on
// the same faulty wire as the database; what must hold is that nobody pays twice, and everybody gets a receipt.
import { defineJob } from 'holdfast'
import { property } from 'holdfast/properties'
import { bench, service } from 'holdfast/sim'

/** A payment service as most of them are: it charges once for each idempotency key. */
const payments = service({
  name: 'payments',
  state: () => ({ charges: {} }),
  calls: {
    charge: (state, { key, order, cents }) => {
      const known = state.charges[key]
      if (known) return { ...known, repeated: true }
      const charge = { id: `charge-${Object.keys(state.charges).length + 1}`, order, cents }
      state.charges[key] = charge
      return { ...charge, repeated: false }
    },
  },
})

const mail = service({
  name: 'mail',
  state: () => ({ sent: 0 }),
  calls: {
    send: (state) => {
      state.sent += 1
      return { number: state.sent }
    },
  },
})

export const order = defineJob({ name: 'order', retry: { maxAttempts: 6 }, timeoutMs: 60_000 })

/** What the workers of the shop run; in production `payments` and `mail` are real clients with the same functions. */
function jobs(keyOf) {
  return ({ payments, mail }) => [
    order.handle(async ({ input, job, attempt, signal }) => {
      const charge = await payments.charge(
        { key: keyOf(job, attempt), order: job.id, cents: input.cents },
        { signal },
      )
      await mail.send({ to: input.customer, order: job.id, charge: charge.id }, { signal })
      return { charge: charge.id }
    }),
  ]
}

const chargedOnce = property({
  name: 'charged-once',
  kind: 'always',
  says: 'No order is charged a second time.',
  blindSpot: 'Does not look at how much is charged.',
  on: ['service.called'],
  suspendedBy: [],
  start: () => ({}),
  step(charged, { service, error, reply }, verdict) {
    if (service !== 'payments' || error !== null || reply.repeated) return
    verdict.evaluated()
    const before = charged[reply.order]
    charged[reply.order] = reply.id
    if (before === undefined) return
    const message = `order ${reply.order} is charged twice: ${before}, then ${reply.id}`
    verdict.violated({ kind: 'charged-twice', subject: reply.order, message })
  },
})

const receiptMailed = property({
  name: 'receipt-mailed',
  kind: 'eventually',
  says: 'Whoever has an order that succeeded was mailed a receipt.',
  blindSpot: 'Does not say how many were mailed: a retry may mail another.',
  on: ['service.called', 'job.final'],
  suspendedBy: [],
  start: () => ({ mailed: {} }),
  step({ mailed }, event, verdict) {
    if (event.type === 'service.called') {
      if (event.service === 'mail') mailed[event.request.order] = true
      return
    }
    if (event.state !== 'succeeded') return
    verdict.evaluated()
    if (mailed[event.job]) return
    verdict.violated({ kind: 'no-receipt', subject: event.job, message: `order ${event.job} has no receipt` })
  },
})

/** @param {string} name @param {string} module @param {(job: object, attempt: object) => string} keyOf */
export function shopBench(name, module, keyOf) {
  return bench({
    name,
    says: 'a shop that takes payments and mails receipts',
    module,
    services: [payments, mail],
    jobs: jobs(keyOf),
    properties: [chargedOnce, receiptMailed],
    workload: ({ enqueue, draw, activeMs }) => {
      for (let k = 0; k < 20; k++) {
        const input = {
          customer: `customer-${draw(8, 'customer', k)}`,
          cents: 100 + draw(10_000, 'cents', k),
        }
        enqueue(order, input, { id: `order-${k}`, atMs: draw(activeMs, 'at', k) })
      }
    },
  })
}
