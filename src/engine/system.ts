import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { createElapsed } from './elapsed.ts'
import { type OneShots, longTimer } from './long-timer.ts'
import type { Clock } from './ports/clock.ts'
import { createOrderedIds } from './ordered-id.ts'
import type { Random } from './ports/random.ts'

/** The only file that touches the machine's clocks, timers, chance and processes. */

const monotonicMs = createElapsed(
  () => performance.now(),
  () => uptime() * 1_000,
)

const oneShots: OneShots = {
  monotonicMs,
  after: (delayMs, _label, fire) => {
    // In this turn of the event loop, where a timeout waits for the next ms: what the turn has to write is written.
    if (delayMs === 0) {
      const immediate = setImmediate(fire)
      return { cancel: () => clearImmediate(immediate) }
    }
    const handle = setTimeout(fire, delayMs)
    return { cancel: () => clearTimeout(handle) }
  },
}

export const systemClock: Clock = {
  monotonicMs,
  wallMs: () => Date.now(),
  timer: (delayMs, label, fire) => longTimer(oneShots, delayMs, label, fire),
}

export const systemRandom: Random = {
  id: createOrderedIds(() => Date.now(), randomUUID),
  unit: () => Math.random(),
}

export function systemHostName(): string {
  return hostname()
}

/** What a lock of this machine says of its holder. */
export interface Processes {
  readonly host: string
  readonly pid: number
  /**
   * When the process with this id began, in whatever words the machine has, so that a later process with the same id is
   * told apart; null if there is none, or it has ended. Where the machine tells no beginnings, `'unknown'`.
   */
  birthOf(pid: number): string | null
}

export const systemProcesses: Processes = {
  host: hostname(),
  pid: process.pid,
  birthOf: (pid) => (process.platform === 'linux' ? birthOnLinux(pid) : birthElsewhere(pid)),
}

/** Ticks since the machine began, so with the name of that beginning. A process that nobody has waited for is a zombie. */
function birthOnLinux(pid: number): string | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // After the name, in parentheses, which may contain anything.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === 'Z' || state === 'X') return null
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[18]}`
}

function birthElsewhere(pid: number): string | null {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return null
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }).trim() || 'unknown'
  } catch {
    return 'unknown'
  }
}
