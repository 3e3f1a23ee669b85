import { parentPort, workerData } from 'node:worker_threads'
import { InvalidArgument } from '../../engine/errors.ts'
import { scenariosIn, storeNamed, topologiesIn } from '../catalogue.ts'
import type { Topology } from '../explore/topology.ts'
import { judge } from '../judge.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import type { SimulatedStore } from '../stores/simulated.ts'
import type { FromThread, ThreadData, ToThread } from './protocol.ts'

/**
 * The entry of a simulation thread: runs one request after another. The leak guard was installed before this
 * module, by the thread's `execArgv`; users' modules are imported before the first run.
 */
const port = parentPort
if (!port) throw new Error('this module is the entry of a simulation thread')
const { url, store, heartbeat } = workerData as ThreadData
const counter = new Int32Array(heartbeat)
const beat = (): void => void Atomics.add(counter, 0, 1)
const answer = (message: FromThread): void => port.postMessage(message)

let fail: ((error: unknown) => void) | null = null
process.on('unhandledRejection', (reason) => {
  const error = reason instanceof Error ? reason : new Error(`rejected with ${String(reason)}`)
  if (fail) fail(new Error(`unhandled rejection: ${error.stack ?? error.message}`))
  else throw error
})

const trap = (failing: (error: unknown) => void): void => {
  fail = failing
}

async function opened(): Promise<SimulatedStore | null> {
  return store ? (await storeNamed(store.name))(store.ground) : null
}

async function serve(
  known: readonly Scenario[],
  topologies: readonly Topology[],
  kept: SimulatedStore | null,
  { index, request }: ToThread,
): Promise<void> {
  try {
    const hooks = { beat, trap, topologies, ...(kept && { store: kept.open }) }
    answer({ kind: 'result', index, result: await judge(request, known, hooks) })
  } catch (error) {
    // Asked for what there is not, such as a scenario that this module does not have.
    if (error instanceof InvalidArgument) return answer({ kind: 'refused', message: error.message })
    // Not the run's, so no run may swallow it: it ends the thread.
    fail = null
    throw error
  }
}

Promise.all([scenariosIn(url), topologiesIn(url), opened()]).then(
  ([known, topologies, kept]) => {
    port.on('message', (message: ToThread) => void serve(known, topologies, kept, message))
    answer({ kind: 'ready' })
  },
  (error: unknown) =>
    answer({ kind: 'refused', message: error instanceof Error ? error.message : String(error) }),
)
