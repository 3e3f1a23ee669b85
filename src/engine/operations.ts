import { CommandRefused, InvalidArgument } from './errors.ts'
import { durationMsMax } from './jobs/figures.ts'
import type { JobState } from './jobs/record.ts'
import { optionsOf, requireKnown, requireObject, requireWhole, shown } from './given.ts'
import { requireId, requireName } from './jobs/text.ts'
import type { Random } from './ports/random.ts'
import type { CommandParams, CommandReply, Control, Store } from './ports/store.ts'
import type { StoreHealth } from './store-health.ts'

/** What an operator may do to jobs and queues, through any engine on the store. */
export interface Operations {
  /**
   * Asks for the job's end. A queued job is `cancelled` at once; a running one is `requested`: its signal
   * fires at the next heartbeat, and it ends as cancelled unless it finishes first. Otherwise the state in
   * which it had ended already, or null if there is no such job.
   */
  cancel(id: string): Promise<JobState | 'requested' | null>
  /** Starts a failed or cancelled job anew, its counters reset. Throws `CommandRefused`. */
  retry(id: string, options?: CommandOptions): Promise<void>
  /** Moves a queued job to `delayMs` from now. Throws `CommandRefused`. */
  reschedule(id: string, options: CommandOptions & { readonly delayMs: number }): Promise<void>
  /** Nothing is claimed, by any engine on the store, until `resume`. What runs goes on. */
  hold(): Promise<Control>
  /**
   * With `restored`: this store was restored from a backup, and no engine has worked on it since. What ran goes back to
   * its queue uncharged, and nothing that an attempt from before the restore still writes applies.
   */
  resume(options?: { readonly restored?: boolean }): Promise<Control>
  /** Nothing of this queue is claimed until `unpause`. */
  pause(queue: string): Promise<Control>
  unpause(queue: string): Promise<Control>
}

export interface CommandOptions {
  /** Only if the job is at this version (`get(id)`). Default: whatever it is at now. */
  readonly version?: number
}

const takes = {
  retry: 'and only a failed or cancelled job that was not replayed can be retried',
  reschedule: 'and only a queued job can be rescheduled',
}

export function createOperations(
  store: Store,
  random: Random,
  ask: StoreHealth['ask'],
  changed: () => void,
  ended: (id: string) => void,
): Operations {
  async function command(
    what: keyof typeof takes,
    id: string,
    version: number | undefined,
    send: (params: CommandParams) => Promise<CommandReply>,
  ): Promise<void> {
    requireId(id)
    if (version !== undefined) {
      requireWhole('version', version, { min: 1, max: Number.MAX_SAFE_INTEGER }, InvalidArgument)
    }
    const at = version ?? (await ask('jobs.get', store.jobs.get({ id })))?.version
    if (at === undefined) throw new CommandRefused(`${what}: there is no job ${id}`)
    const reply = await send({ id, version: at, command: random.id('command') })
    if (reply.kind === 'applied') return changed()
    const is = reply.version === null ? 'gone' : `${reply.state} at version ${reply.version}`
    // At the version that was asked for, it is the state that is in the way.
    const why = reply.version === at ? takes[what] : `not what it was when this was asked at version ${at}`
    throw new CommandRefused(`${what}: job ${id} is ${is}, ${why}`)
  }

  const set = (change: Parameters<Store['control']['set']>[0]): Promise<Control> =>
    ask('control.set', store.control.set(change)).then((control) => {
      changed()
      return control
    })

  const setQueue = async (queue: string, paused: boolean): Promise<Control> => {
    requireName('a queue name', queue, InvalidArgument)
    return set({ queue, paused })
  }

  return {
    cancel: async (id) => {
      requireId(id)
      const reply = await ask('jobs.requestCancel', store.jobs.requestCancel({ id }))
      ended(id)
      if (reply.kind === 'missing') return null
      return reply.kind === 'ended' ? reply.state : reply.kind
    },
    retry: async (id, rest) => {
      const { version } = optionsOf(rest, { version: true })
      await command('retry', id, version, (params) => ask('jobs.retry', store.jobs.retry(params)))
    },
    reschedule: async (id, rest) => {
      requireObject('options', rest, InvalidArgument)
      requireKnown('options', rest, { version: true, delayMs: true }, InvalidArgument)
      const { version, delayMs } = rest
      requireWhole('delayMs', delayMs, { min: 0, max: durationMsMax }, InvalidArgument)
      await command('reschedule', id, version, (params) =>
        ask('jobs.reschedule', store.jobs.reschedule({ ...params, delayMs })),
      )
    },
    hold: () => set({ hold: true }),
    resume: async (rest) => {
      const { restored = false } = optionsOf(rest, { restored: true })
      if (typeof restored !== 'boolean') {
        throw new InvalidArgument(`restored must be true or false, not ${shown(restored)}`)
      }
      if (!restored) return set({ hold: false })
      const command = random.id('command')
      // Two restores of one backup begin no timeline twice: the clock of the database is not in the backup.
      const timelineMin = Math.floor((await ask('now', store.now())) / 1_000)
      const { control } = await ask('control.restored', store.control.restored({ command, timelineMin }))
      changed()
      return control
    },
    pause: (queue) => setQueue(queue, true),
    unpause: (queue) => setQueue(queue, false),
  }
}
