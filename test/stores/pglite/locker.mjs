// Locks a directory whenever it is told to, and keeps what it got until it ends.
//   node locker.mjs DIRECTORY
import { randomUUID } from 'node:crypto'
import { systemProcesses } from '../../../dist/engine/system.js'
import { StoreInUse } from '../../../dist/stores/errors.js'
import { lock } from '../../../dist/stores/pglite/lock.js'

const directory = process.argv[2] ?? ''
process.on('message', (round) => void process.send?.({ kind: String(round), holder: holder() }))
process.send?.({ kind: 'ready' })

/** Whose it is now. */
function holder() {
  try {
    lock(directory, systemProcesses, randomUUID)
    return process.pid
  } catch (error) {
    if (error instanceof StoreInUse) return error.pid
    throw error
  }
}
