import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Signals to a whole server: PostgreSQL gives each of its processes a group of its own, so they are found as the
 * children of the first.
 */
export function signalAll(pidFile: string, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): readonly number[] {
  const server = pidIn(pidFile)
  if (server === null) return []
  // The first of them first: it makes no more children then.
  const sent = [server]
  send(server, signal)
  for (const child of childrenOf(server)) {
    sent.push(child)
    send(child, signal)
  }
  return sent
}

/** Ends every process of the server at once, as a crash of its machine does, and waits until they are gone. */
export async function killAll(pidFile: string): Promise<void> {
  const killed = signalAll(pidFile, 'SIGKILL')
  while (killed.some(isAlive)) await delay(5)
  // Another process may have that id when somebody reads it next.
  rmSync(pidFile, { force: true })
}

/** Ends a server that may be frozen, or not run at all. */
export async function quit(pidFile: string): Promise<void> {
  const [server] = signalAll(pidFile, 'SIGCONT')
  if (server === undefined) return
  send(server, 'SIGQUIT')
  while (isAlive(server)) await delay(5)
}

function pidIn(pidFile: string): number | null {
  try {
    return Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  } catch {
    return null
  }
}

function childrenOf(pid: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = table.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []))
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone already.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
