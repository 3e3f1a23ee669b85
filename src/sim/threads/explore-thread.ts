import { parentPort, workerData } from 'node:worker_threads'
import { InvalidArgument } from '../../engine/errors.ts'
import { textOf } from '../../engine/jobs/text.ts'
import { createLane } from '../explore/lane.ts'
import type { ExploreThreadData, FromExploreThread, ToExploreThread } from './explore-protocol.ts'
import { sized } from '../explore/topology.ts'
import { topologiesIn } from '../catalogue.ts'
import { topologyNamed } from '../explore/topologies/index.ts'

/**
 * The entry of a thread that explores: one lane. The leak guard was installed before this module, by the thread's
 * `execArgv`.
 */
const port = parentPort
if (!port) throw new Error('this module is the entry of a thread that explores')
const { url, topology, size, heartbeat, ...options } = workerData as ExploreThreadData
const counter = new Int32Array(heartbeat)
const answer = (message: FromExploreThread): void => port.postMessage(message)
const failed = (error: unknown): void => answer({ kind: 'failed', message: messageOf(error) })

/** What is wrong with a user's topology is said in one line; a stack of ours would not help. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return textOf(error)
  return error instanceof InvalidArgument ? error.message : (error.stack ?? error.message)
}

process.on('unhandledRejection', failed)

topologiesIn(url).then((known) => {
  const lane = createLane({
    ...options,
    topology: sized(topologyNamed(topology, known), size),
    prune: true,
    identity: {},
    beat: () => void Atomics.add(counter, 0, 1),
  })
  port.on('message', ({ level }: ToExploreThread) => {
    lane.walk(level).then((found) => answer({ kind: 'walked', found }), failed)
  })
  answer({ kind: 'ready' })
}, failed)
