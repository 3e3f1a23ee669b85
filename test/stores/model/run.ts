// Random sequences on a store and on the model, one command at a time. A failure prints its seed and path.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { InspectableStore } from '../../../src/engine/ports/store.ts'
import type { OpenStore } from '../../../src/stores/conformance/index.ts'
import { commands } from './commands.ts'
import { Model } from './model.ts'

export interface ModelRun {
  /** Opens an empty store with a controlled clock and readable content. */
  readonly open: () => Promise<OpenStore>
  readonly seed: number
  readonly runs: number
}

/** What must have happened at least once in a few hundred sequences, else they have shown little. */
const worthSeeing = [
  ['inserted', 'conflict', 'claimed', 'void', 'voided', 'recovered', 'held', 'collected'],
  ['solo waiting take', 'solo waiting await', 'held, to be cancelled'],
  ['applied succeeded', 'applied queued', 'applied failed', 'applied running', 'lost null'],
  ['lost queued', 'lost running', 'lost succeeded', 'superseded queued', 'superseded running'],
  ['reclaimed queued', 'reclaimed failed', 'held back', 'full', 'timed out queued', 'timed out failed'],
  ['moved', 'restarted', 'refused', 'silent', 'not silent'],
  ['adopted queued', 'adopted failed', 'one due', 'none due', 'several pages'],
  ['applied cancelled', 'lost cancelled', 'reclaimed cancelled', 'timed out cancelled'],
  ['cancel cancelled', 'cancel requested', 'cancel ended', 'cancel missing', 'repaired'],
  ['retry applied', 'retry applied again', 'retry refused failed', 'retry refused queued'],
  ['reschedule applied', 'reschedule applied again', 'reschedule refused queued'],
  ['progress applied', 'progress refused', 'checkpoint applied', 'checkpoint replaced'],
  ['checkpoint refused'],
  ['replay replayed', 'replay replayed again', 'replay already', 'replay refused', 'replay taken'],
  ['replay missing', 'discard discarded', 'discard refused', 'discard missing'],
  ['dead letters', 'dead letters, in pages'],
  ['appended all', 'appended some', 'appended nothing', 'append refused'],
  ['swept', 'kept', 'leases swept'],
  ['acquire true', 'acquire false', 'renew true', 'renew false', 'release true', 'release false'],
].flat()

/** Answers how often each thing worth seeing happened. */
export async function assertLikeModel({ open, seed, runs }: ModelRun): Promise<Map<string, number>> {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 200, size: 'max' }), async (sequence) => {
      const { store, time, unlease, dispose } = await open()
      assert.ok(time, 'the model needs a clock that it can move')
      assert.ok(unlease, 'the model needs a hand on the lease rows')
      const real = { store: store as InspectableStore, time, unlease, seen }
      try {
        const model = new Model(await store.now())
        model.declare(await store.watch.declare({ sweepMs: 10 }))
        await fc.asyncModelRun(() => ({ model, real }), sequence)
      } finally {
        await dispose()
      }
    }),
    { seed, numRuns: runs },
  )
  return new Map(worthSeeing.map((what) => [what, seen.get(what) ?? 0]))
}
