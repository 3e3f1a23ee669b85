import type { Recorder } from './recorder.ts'
import { type RunOptions, type RunResult, run } from './run.ts'

/**
 * Database time only: the same seed with every node clock right must take exactly the same course, so that
 * nothing depends on a node's wall clock. It is a relation between two runs, which no fold over one can see.
 * Blind spot: what is stored for display only is no part of the course.
 */
export const databaseTimeOnly = 'database-time-only'

/** One in `each`, whatever the seeds are dealt by: counted, it might never meet a scenario that skews. */
function isSampled(seed: bigint, each: number): boolean {
  const mixed = BigInt.asUintN(64, seed * 0x9e3779b97f4a7c15n) >> 32n
  return mixed % BigInt(each) === 0n
}

/** The result with this property's verdict added; evaluated for one in `each` seeds that skewed a clock. */
export async function withDatabaseTimeOnly(
  result: RunResult,
  options: RunOptions,
  each: number,
): Promise<RunResult> {
  const tally = {
    name: databaseTimeOnly,
    kind: 'always' as const,
    needs: ['clock-skew'],
    own: false,
    suspendedBy: [],
    suspended: 0,
    met: true,
    evaluations: 0,
    violations: 0,
  }
  const told = { ...result, tallies: [...result.tallies, tally] }
  const skewed = (result.strikes['clock-skew'] ?? 0) > 0
  if (!skewed || result.leak || !isSampled(options.seed, each)) return told
  const right = await run({ ...options, properties: [], plan: withoutSkew(result), keepStory: false })
  tally.evaluations = 1
  if (right.traceHash === result.traceHash) return told
  tally.violations = 1
  const difference = await firstDifference(options, withoutSkew(result), result.plan)
  const violation = {
    property: databaseTimeOnly,
    kind: 'other-course',
    subject: difference.subject,
    message: `with all node clocks right the run takes another course: ${difference.says}`,
    on: 'run',
    atMs: difference.atMs,
    event: difference.event,
  }
  return {
    ...told,
    verdict: told.verdict === 'pass' ? 'violated' : told.verdict,
    violations: [...told.violations, violation],
  }
}

/** The strikes stay, as events of the history; only what they do is taken from them. */
function withoutSkew({ plan }: RunResult): RunResult['plan'] {
  return plan.map((fault) => (fault.family === 'clock-skew' ? { ...fault, skewMs: 0 } : fault))
}

interface Difference {
  readonly says: string
  readonly subject: string
  readonly atMs: number
  readonly event: number
}

/** Runs both again, keeping their stories, and names the first event in which they differ. */
export async function firstDifference(
  options: RunOptions,
  planA: RunResult['plan'],
  planB: RunResult['plan'],
): Promise<Difference> {
  const again = { ...options, properties: [], keepStory: true }
  const a = (await run({ ...again, plan: planA })).story ?? []
  const b = (await run({ ...again, plan: planB })).story ?? []
  const lines = Math.max(a.length, b.length)
  for (let k = 0; k < lines; k++) {
    const [x, y] = [JSON.stringify(a[k]), JSON.stringify(b[k])]
    if (x === y) continue
    const at = b[k] ?? a[k]
    return {
      says: `event ${k + 1} is ${x ?? 'missing'} / ${y ?? 'missing'}`,
      subject: subjectOf(at),
      atMs: at?.atMs ?? 0,
      event: k + 1,
    }
  }
  return {
    says: 'later runs agree with one another, and not with the first: something outlives a run, such as state in a module',
    subject: 'run',
    atMs: 0,
    event: 0,
  }
}

function subjectOf(line: NonNullable<Recorder['story']>[number] | undefined): string {
  if (line && 'job' in line && line.job !== null) return line.job
  return line?.node ?? 'run'
}
