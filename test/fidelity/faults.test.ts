// The simulation must not lie. For every fault: what really happens is what is simulated. Real processes work on a
// real server that is really broken; the errors are of the same kinds, and the same properties hold of what was
// recorded. What the store did is recorded by the store, what an engine did by its process.
import { afterEach, expect, test } from 'vitest'
import type { EventOf, HistoryEvent, HistoryType } from '../../src/engine/history.ts'
import { standardProperties } from '../../src/properties/index.ts'
import { type Fleet, type FleetOptions, type Worker, leaseTtlMs, startFleet } from './support/fleet.ts'
import { judge } from './support/judge.ts'

const patienceMs = 120_000

let fleet: Fleet | null = null
afterEach(async () => {
  await fleet?.remove()
  fleet = null
}, patienceMs)

async function started(options: Partial<FleetOptions> = {}): Promise<Fleet & { readonly first: Worker }> {
  fleet = await startFleet({ skewsMs: [0, 0], ...options })
  return { ...fleet, first: fleet.workers[0] as Worker }
}

function eventsOf<T extends HistoryType>(history: readonly HistoryEvent[], type: T): EventOf<T>[] {
  return history.filter((event) => event.type === type) as unknown as EventOf<T>[]
}

/** Ends the run, judges it, and answers what was recorded. */
async function over(running: Fleet): Promise<readonly HistoryEvent[]> {
  const history = await running.finish()
  const { violations, evaluations, tallies } = judge(history, standardProperties)
  if (process.env['FIDELITY_SAY']) {
    console.log(tallies.map(({ name, evaluations: n }) => `${name} ${n}`).join('; '))
    if (violations.length > 0) for (const event of history) console.log(JSON.stringify(event))
  }
  expect(violations).toEqual([])
  void evaluations
  return history
}

test(
  'a worker that is killed',
  async () => {
    const running = await started()
    for (let k = 0; k < 4; k++) await running.enqueue(`j${k}`, 1_500)
    await running.first.saw('attempt.started')
    await running.first.kill()
    running.struck('crash', running.first)
    running.first.restart()
    const history = await over(running)
    expect(eventsOf(history, 'job.reclaimed').length).toBeGreaterThan(0)
    expect(eventsOf(history, 'job.final').map(({ state }) => state)).toEqual(Array(4).fill('succeeded'))
  },
  patienceMs,
)
