// Keeps the simulation from becoming slower unnoticed: fails when its events, for each round of calibration, have
// fallen by more than a third below what stands in bench/speed.json.
//   npm run bench:guard [-- --update]
// Both are CPU time, summed over turns of a fraction of a second, so that a busy machine slows both alike, and one
// bad moment of either decides nothing. It takes about ten seconds.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { update: { type: 'boolean', default: false }, inside: { type: 'boolean', default: false } },
})

if (!values.inside) {
  const preload = new URL('../dist/sim/guard/preload.js', import.meta.url).href
  const args = ['--import', preload, fileURLToPath(import.meta.url), '--inside', ...process.argv.slice(2)]
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1)
}

const { calibrate, simulateSeeds } = await import('./measure.mjs')
const { storeNamed } = await import('../dist/sim/catalogue.js')

const turns = 12
const seedsATurn = 8
const roundsATurn = 120_000
const fallMost = 1 / 3

const { open: store } = await (await storeNamed('memory'))(null)
await simulateSeeds(store, 1_000_000, 80)
await calibrate(4 * roundsATurn)
const sums = { events: 0, cpuMs: 0, calibrationMs: 0 }
for (let turn = 0; turn < turns; turn++) {
  sums.calibrationMs += roundsATurn / (await calibrate(roundsATurn))
  const { events, cpuMs } = await simulateSeeds(store, 1 + turn * seedsATurn, seedsATurn)
  sums.events += events
  sums.cpuMs += cpuMs
}
const ratio = sums.events / sums.cpuMs / ((turns * roundsATurn) / sums.calibrationMs)
const file = new URL('speed.json', import.meta.url)
if (values.update)
  writeFileSync(file, `${JSON.stringify({ eventsACalibrationRound: Number(ratio.toFixed(3)) })}\n`)

/** @type {{ readonly eventsACalibrationRound: number }} */
const { eventsACalibrationRound: kept } = JSON.parse(readFileSync(file, 'utf8'))
const least = kept * (1 - fallMost)
console.log(
  `events for each calibration round: ${ratio.toFixed(3)} (kept ${kept}, at least ${least.toFixed(3)})`,
)
if (ratio < least) {
  console.error(
    'the simulation has become slower by more than a third; find out why, or say why in bench/speed.json',
  )
  process.exit(1)
}
