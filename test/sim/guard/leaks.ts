// How the tests of the guard look for a leak, and at the line that it names.
import { readFileSync } from 'node:fs'
import { type Leak, leakGuard } from '../../../src/sim/guard/guard.ts'

/** The oldest leak of `call`, made armed, or null. What it returns or throws is of no interest. */
export function leakOf(call: () => unknown): Leak | null {
  const guard = leakGuard()
  let result: unknown
  guard.arm()
  try {
    result = call()
  } finally {
    guard.disarm()
  }
  if (result instanceof Promise) result.catch(() => {})
  return guard.takeLeak()
}

/** What `call` returns while armed and answered by `source`. */
export function virtually<T>(source: { nowMs: number; random?: number }, call: () => T): T {
  const guard = leakGuard()
  guard.virtualise({ nowMs: () => source.nowMs, random: () => source.random ?? 0 })
  guard.arm()
  try {
    return call()
  } finally {
    guard.disarm()
    guard.virtualise(null)
  }
}

/** The text of the line at `site` (`file:line:column`). */
export function lineAt(site: string): string {
  const [, file, line] = /^(.*):(\d+):\d+$/.exec(site) ?? []
  if (file === undefined || line === undefined) throw new TypeError(`no file:line:column: ${site}`)
  return readFileSync(file, 'utf8').split('\n')[Number(line) - 1] ?? ''
}
