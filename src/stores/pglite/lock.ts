import {
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { InvalidConfig } from '../../engine/errors.ts'
import type { Processes } from '../../engine/system.ts'
import { StoreInUse } from '../errors.ts'

/**
 * PGlite does not notice that another has its files open, and both then destroy them. So a directory has a lock: files
 * with rising numbers in `holdfast.lock`, of which the highest says who has it. A number is never taken away while it
 * is the highest, only marked as free: so of two who find a dead holder, exactly one makes the next number.
 */
export interface Lock {
  /** The directory, by its one real name. */
  readonly directory: string
  release(): void
}

interface Holder {
  readonly host: string
  readonly pid: number
  readonly birth: string | null
}

const folder = 'holdfast.lock'

/** Throws `StoreInUse` if somebody who lives has it, `InvalidConfig` if the directory can never be opened. */
export function lock(dataDir: string, processes: Processes, newId: () => string): Lock {
  const directory = opened(dataDir)
  const place = path.join(directory, folder)
  const self: Holder = { host: processes.host, pid: processes.pid, birth: processes.birthOf(processes.pid) }
  for (;;) {
    const last = Math.max(0, ...numbersIn(place))
    const holder = last === 0 ? null : holderIn(path.join(place, `${last}`))
    if (holder && lives(holder, processes)) throw inUse(directory, holder, processes)
    const file = path.join(place, `${last + 1}`)
    const draft = path.join(place, `draft-${newId()}`)
    if (!made(file, draft, self)) continue
    for (const other of readdirSync(place)) {
      if (Number(other) !== last + 1) rmSync(path.join(place, other), { force: true })
    }
    return { directory, release: () => put(file, draft, null) }
  }
}

function opened(dataDir: string): string {
  try {
    mkdirSync(path.join(dataDir, folder), { recursive: true })
    return realpathSync(dataDir)
  } catch (error) {
    throw new InvalidConfig(`cannot open the directory ${dataDir}: ${String(error)}`, { cause: error })
  }
}

function numbersIn(place: string): number[] {
  return readdirSync(place).map(Number).filter(Number.isSafeInteger)
}

/** Null: it is free. */
function holderIn(file: string): Holder | null {
  return JSON.parse(readFileSync(file, 'utf8')) as Holder | null
}

/** Of another machine nobody here knows: it may live. */
function lives({ host, pid, birth }: Holder, processes: Processes): boolean {
  return host !== processes.host || (birth !== null && processes.birthOf(pid) === birth)
}

function inUse(directory: string, { host, pid }: Holder, processes: Processes): StoreInUse {
  const who =
    host !== processes.host
      ? `process ${pid} of the machine ${host}; if that has ended, remove ${path.join(directory, folder)}`
      : pid === processes.pid
        ? `this process (${pid}): share its store`
        : `process ${pid}`
  return new StoreInUse(`${directory} is open in ${who}`, pid)
}

/** Whole or not at all, and only if nobody else has made the number. Whoever was first may have removed the draft. */
function made(file: string, draft: string, holder: Holder): boolean {
  writeFileSync(draft, JSON.stringify(holder))
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function put(file: string, draft: string, holder: Holder | null): void {
  writeFileSync(draft, JSON.stringify(holder))
  renameSync(draft, file)
}
