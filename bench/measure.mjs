// What the benchmark and the guard of the simulation's speed have in common: one piece of simulation, and one of
// work that tells how much this machine gives at this moment.

const { run } = await import('../dist/sim/run.js')
const { standard } = await import('../dist/sim/scenarios/standard.js')
const { standardProperties } = await import('../dist/properties/index.js')

/**
 * Runs `count` seeds of the standard scenario from `first` on.
 * @param {import('../dist/sim/run.js').StoreFactory} store
 * @param {number} first
 * @param {number} count
 */
export async function simulateSeeds(store, first, count) {
  const sums = { events: 0, simulatedMs: 0, eventsMin: Number.POSITIVE_INFINITY }
  const startedMs = performance.now()
  const cpu = process.cpuUsage()
  for (let k = 0; k < count; k++) {
    const result = await run({
      seed: BigInt(first + k),
      scenario: standard,
      store,
      properties: standardProperties,
    })
    if (result.verdict !== 'pass')
      throw new Error(`seed ${result.seed}: ${result.verdict} ${result.detail ?? ''}`)
    sums.events += result.events
    sums.simulatedMs += result.simulatedMs
    sums.eventsMin = Math.min(sums.eventsMin, result.events)
  }
  return { ...sums, cpuMs: cpuMsSince(cpu), wallMs: performance.now() - startedMs }
}

/** @param {NodeJS.CpuUsage} before */
function cpuMsSince(before) {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Answers how many rounds of a fixed piece of work the machine does in a CPU ms. A round does what an event of the
 * simulation is made of, without its code: objects that die young and some that stay, closures, promises, maps by
 * text, a heap, a hash. So what slows the one slows the other: a busy neighbour that takes cache and memory
 * bandwidth hurts a loop of plain arithmetic far less than either.
 * @param {number} rounds
 */
export async function calibrate(rounds) {
  const cpu = process.cpuUsage()
  /** @type {Map<string, { readonly at: number, readonly fire: () => number, readonly note: string }>} */
  const kept = new Map()
  /** @type {number[]} */
  const heap = []
  const state = { hash: 0x811c9dc5, sum: 0 }
  for (let k = 0; k < rounds; k++) {
    const name = `call-${k % 613}`
    const record = { at: k, node: k % 7, fire: () => k + state.sum, note: name, live: true, tags: [k, k + 1] }
    kept.set(name, { ...record, at: record.at + 1 })
    for (let at = 0; at < name.length; at++)
      state.hash = Math.imul(state.hash ^ name.charCodeAt(at), 0x01000193)
    heap.push(state.hash & 0xffff)
    if (heap.length > 256) heap.sort((a, b) => a - b).splice(128)
    state.sum += await answered(kept, `call-${(k * 7) % 613}`)
  }
  if (!Number.isFinite(state.sum)) throw new Error('the calibration was optimised away')
  return rounds / cpuMsSince(cpu)
}

/**
 * @param {ReadonlyMap<string, { readonly at: number, readonly fire: () => number }>} kept
 * @param {string} name
 */
async function answered(kept, name) {
  const found = await Promise.resolve(kept.get(name))
  return found ? found.fire() % 3 : 0
}
