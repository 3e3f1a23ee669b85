// A small system for `holdfast explore examples/explore/invoices.mjs`: two workers, one invoice, and what may go wrong.
import { defineJob } from 'holdfast'
import { topology } from 'holdfast/sim'

// In the place of the real handler: it sleeps once, as long as the work takes, and keeps nothing.
const invoice = defineJob({
  name: 'invoice',
  leaseTtlMs: 30_000,
  timeoutMs: 60_000,
  run: ({ input, sleep }) => sleep(input.forMs),
})

export default topology({
  name: 'invoices',
  says: 'two workers, one invoice that takes 12 s',
  workers: 2,
  intervals: { pollMs: 7_000, pollMsMax: 7_000 },
  jobs: [invoice],
  work: [{ atMs: 0, job: invoice, input: { forMs: 12_000 }, options: { id: 'invoice-1' } }],
  horizonMs: 60_000,
  faults: [
    { family: 'lost-request', calls: ['claims.claim', 'jobs.settle'] },
    { family: 'lost-reply', calls: ['claims.claim', 'jobs.settle'] },
    { family: 'pause', forMs: 33_000 }, // longer than the lease: it is taken back meanwhile
    { family: 'crash', forMs: 2_000 },
  ],
  deviations: 1,
})
