import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/engine/errors.ts'
import { placeFor, storeNamed } from '../../src/sim/catalogue.ts'
import { scenarios } from '../../src/sim/scenarios/index.ts'
import { mixedWork } from '../../src/sim/scenarios/jobs.ts'
import type { Scenario } from '../../src/sim/scenarios/scenario.ts'
import { standard } from '../../src/sim/scenarios/standard.ts'
import type { Ground, Place, SimulatedStore } from '../../src/sim/stores/simulated.ts'
import { rawMemoryStore } from '../../src/stores/memory/index.ts'
import { newDatabase } from '../support/postgres/database.ts'
import { play } from './support.ts'

const patienceMs = 120_000

/** Every scenario, cut to what a server that answers in real time can do in a test. */
const short = scenarios.map((scenario): Scenario => {
  const activeMs = 60_000
  const workload: Scenario['workload'] = (draw) => mixedWork(10, activeMs, draw)
  const able = workload((bound, _, k) => k % bound).every(({ job }) => scenario.jobs.includes(job))
  return able ? { ...scenario, activeMs, workload } : scenario
})

async function opened(name: string, ground: Ground | null = null): Promise<SimulatedStore> {
  return (await storeNamed(name))(ground)
}

async function expectSame(store: SimulatedStore, scenario: Scenario, seed: bigint): Promise<void> {
  const expected = await play({ scenario, seed })
  const { verdict, detail, traceHash, events } = await play({ scenario, seed, store: store.open })
  expect([verdict, detail, traceHash, events]).toEqual(['pass', null, expected.traceHash, expected.events])
}

describe.each(['sqlite', 'pglite'])('the same trace on memory and on %s', (name) => {
  let store: SimulatedStore
  beforeAll(async () => void (store = await opened(name)), patienceMs)
  afterAll(() => store.close())

  test.each(scenarios.map((scenario, n) => [scenario.name, scenario, n] as const))(
    '%s',
    (_, scenario, n) => expectSame(store, scenario, BigInt(7_000 + n)),
    patienceMs,
  )
})

describe('the same trace on memory and on a server', () => {
  let database: Awaited<ReturnType<typeof newDatabase>>
  let place: Place
  let store: SimulatedStore
  beforeAll(async () => {
    database = await newDatabase()
    place = await placeFor('postgres', database.url, 'test')
    store = await opened('postgres', place.groundOf(1))
  }, patienceMs)
  afterAll(async () => {
    await store.close()
    await place.drop()
    await database.drop()
  })

  test.each(short.map((scenario, n) => [scenario.name, scenario, n] as const))(
    '%s',
    (_, scenario, n) => expectSame(store, scenario, BigInt(8_000 + n)),
    patienceMs,
  )

  test('nothing is left of the place when it is dropped', async () => {
    const gone = await placeFor('postgres', database.url, 'gone')
    await (await opened('postgres', gone.groundOf(1))).close()
    const count = async (): Promise<unknown> => {
      const hand = new pg.Client({ connectionString: database.url })
      await hand.connect()
      const { rows } = await hand.query(
        `select count(*)::int as n from pg_namespace where nspname like 'holdfast_sim_gone%'`,
      )
      await hand.end()
      return (rows[0] as { readonly n: number }).n
    }
    expect(await count()).toBe(1)
    await gone.drop()
    expect(await count()).toBe(0)
  })
})

test('a raw store that is not there ends the run', async () => {
  const away = (): Promise<never> => Promise.reject(new StoreUnavailable('really away', 'no'))
  const result = await play({
    scenario: standard,
    store: (time) => {
      const store = rawMemoryStore(time)
      return { ...store, claims: { ...store.claims, claim: away } }
    },
  })
  expect([result.verdict, result.detail]).toEqual(['error', expect.stringContaining('really away')])
})
