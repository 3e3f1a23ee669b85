// Simulates both shops with the same seeds, and prints the failure of the first one.
//
//   node examples/shop/simulate.mjs [SEEDS]
import { simulate } from 'holdfast/sim'
import mended from './mended.mjs'
import wrong from './wrong.mjs'

const seeds = Number(process.argv[2] ?? 40)

const before = await simulate(wrong, { seeds })
console.log(`the wrong shop: ${before.verdict}`)
const failure = before.failures.find(({ property }) => property === 'charged-once')
console.log(failure?.text ?? 'nobody was charged twice')

const after = await simulate(mended, { seeds })
console.log(`the mended shop: ${after.verdict}`)
for (const reason of after.reasons) console.log(`  ${reason}`)
for (const { text } of after.failures) console.log(text)

process.exitCode = before.verdict === 'violated' && after.verdict === 'pass' ? 0 : 1
