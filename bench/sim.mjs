// How fast the simulation is: the standard scenario on one core, warm, against a calibration loop in the same run.
//   npm run bench:sim [-- --seeds N --store memory --memory]
// It prints ratios to the figures that the project holds itself to; it is a measurement, not a test.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '400' },
    store: { type: 'string', default: 'memory' },
    memory: { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
  },
})

if (!values.inside) {
  // The guard belongs to every measurement, so this file runs itself again with it installed.
  const preload = new URL('../dist/sim/guard/preload.js', import.meta.url).href
  const args = [
    '--expose-gc',
    '--import',
    preload,
    fileURLToPath(import.meta.url),
    '--inside',
    ...process.argv.slice(2),
  ]
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1)
}

const { calibrate, simulateSeeds } = await import('./measure.mjs')
const { storeNamed } = await import('../dist/sim/catalogue.js')

const opened = await (await storeNamed(values.store))(null)
const { open: store } = opened
/** @type {(first: number, count: number) => ReturnType<typeof simulateSeeds>} */
const measure = (first, count) => simulateSeeds(store, first, count)

/** Long enough to be one figure, short enough to be of this moment. */
const calibrationRounds = 300_000

/**
 * @param {string} what
 * @param {number} value
 * @param {number} target
 */
function line(what, value, target) {
  const shown = Math.round(value).toLocaleString('en-US').padStart(12)
  console.log(
    `${what.padEnd(36)}${shown}   target ${target.toLocaleString('en-US').padStart(8)}   ratio ${(value / target).toFixed(2)}`,
  )
}

const seeds = Number(values.seeds)
await measure(1_000_000, 100)
await calibrate(calibrationRounds)
const before = await calibrate(calibrationRounds)
const figures = await measure(1, seeds)
const after = await calibrate(calibrationRounds)
const realTimes = values.store === 'memory' ? 30_000 : values.store === 'sqlite' ? 10_000 : 1_000
console.log(`standard scenario, store ${values.store}, ${seeds} seeds, one thread, warm, all properties on`)
line('seeds a second', (seeds / figures.wallMs) * 1000, 50)
line('events a seed (mean)', figures.events / seeds, 2_500)
line('events a seed (least)', figures.eventsMin, 2_500)
line('events a CPU second', (figures.events / figures.cpuMs) * 1000, 180_000)
line('simulated time / real time', figures.simulatedMs / figures.wallMs, realTimes)
const rounds = (before + after) / 2
console.log(`events for each calibration round: ${(figures.events / figures.cpuMs / rounds).toFixed(3)}`)

if (values.memory) {
  await measure(1, 500)
  globalThis.gc?.()
  const early = process.memoryUsage()
  await measure(501, 9_500)
  globalThis.gc?.()
  const late = process.memoryUsage()
  /** @param {'heapUsed' | 'rss'} key */
  const grown = (key) => `${((late[key] / early[key] - 1) * 100).toFixed(1)} %`
  console.log(
    `memory from 500 to 10,000 seeds: heap ${grown('heapUsed')}, resident ${grown('rss')}   target < 10 %`,
  )
}
await opened.close()
