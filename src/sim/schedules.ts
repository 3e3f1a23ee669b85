import { CommandRefused, StoreUnavailable } from '../engine/errors.ts'
import type { Engine } from '../engine/api.ts'
import type { ScheduleOptions } from '../engine/schedules/schedules.ts'
import type { Incarnation } from './node.ts'
import type { World } from './world.ts'

/** What a producer does with a schedule: puts it, or another thing. */
export interface ScheduleStep {
  readonly atMs: number
  readonly key: string
  readonly does: ScheduleOptions | 'pause' | 'resume' | 'remove'
}

const againMs = 1_000

/** One after the other, each until the store has answered. */
export function keepSchedules(
  world: World,
  { owner, engine }: { readonly owner: Incarnation; readonly engine: Engine },
  steps: readonly ScheduleStep[],
): void {
  let busy: Promise<void> = Promise.resolve()

  async function take(step: ScheduleStep): Promise<void> {
    for (;;) {
      try {
        return void (await asked(engine, step))
      } catch (error) {
        // What was removed meanwhile is neither paused nor let go on.
        if (error instanceof CommandRefused) return
        if (!(error instanceof StoreUnavailable)) return world.fail(error)
        await new Promise<void>((resolve) => world.schedule(owner, againMs, 'order', resolve))
      }
    }
  }

  for (const step of steps) {
    const begin = (): void => void (busy = busy.then(() => take(step)))
    world.schedule(owner, step.atMs, 'order', begin, step.key)
  }
}

function asked({ schedules }: Engine, { key, does }: ScheduleStep): Promise<unknown> {
  switch (does) {
    case 'pause':
      return schedules.pause(key)
    case 'resume':
      return schedules.resume(key)
    case 'remove':
      return schedules.remove(key)
    default:
      return schedules.put(key, does)
  }
}
