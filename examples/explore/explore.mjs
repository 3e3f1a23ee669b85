// Walks all schedules of a small system: first judged by what the engine promises, then by more than it does.
//
//   node examples/explore/explore.mjs
import { property } from 'holdfast/properties'
import { explore, topology } from 'holdfast/sim'
import invoices from './invoices.mjs'

const promised = await explore({ topology: invoices })
console.log(`${promised.verdict}: ${promised.bound}`)

const startedOnce = property({
  name: 'started-once',
  kind: 'always',
  says: 'No invoice is started twice.',
  blindSpot: 'Does not look at what a start has done.',
  on: ['attempt.started'],
  suspendedBy: [],
  start: () => ({}),
  step(starts, { job }, verdict) {
    verdict.evaluated()
    starts[job] = (starts[job] ?? 0) + 1
    if (starts[job] > 1) verdict.violated({ kind: 'twice', subject: job, message: `${job} is started twice` })
  },
})
const wished = await explore({ topology: topology({ ...invoices, properties: [startedOnce] }) })
console.log(`${wished.verdict}: ${wished.failure?.message}, by ${wished.found?.deviations.length} deviation:`)
for (const deviation of wished.failure?.deviations ?? []) console.log(`  ${deviation}`)

process.exitCode = promised.verdict === 'pass' && wished.verdict === 'violated' ? 0 : 1
