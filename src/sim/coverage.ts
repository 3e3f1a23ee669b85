import type { HistoryEvent } from '../engine/history.ts'

/**
 * What a run made happen, told apart coarsely: a fault family, and the kind of the first event after its strike on a
 * job that it could touch. That is a job which the struck process held, or for a fault of the world any open one.
 * How many new ones a hundred more seeds still bring says how far a campaign has come.
 */
export interface Coverage {
  watch(event: HistoryEvent): void
  /** In the order of their first occurrence. */
  readonly behaviours: readonly string[]
}

export function createCoverage(): Coverage {
  const behaviours = new Set<string>()
  /** Who runs each open job: the name of a machine, or null while it waits. */
  const holders = new Map<string, string | null>()
  /** Families that have struck a job of which nothing was heard since. */
  const struck = new Map<string, Set<string>>()

  function strike(family: string, node: string): void {
    for (const [job, holder] of holders) {
      if (node !== 'env' && node !== holder) continue
      const families = struck.get(job)
      if (families) families.add(family)
      else struck.set(job, new Set([family]))
    }
  }

  function met(job: string | null, type: string): void {
    const families = job === null ? undefined : struck.get(job)
    if (job === null || !families) return
    for (const family of families) behaviours.add(`${family} > ${type}`)
    struck.delete(job)
  }

  return {
    watch: (event) => {
      if (event.type === 'fault.struck') return strike(event.family, event.node)
      // What is seen of it is nothing that becomes of it.
      if (!('job' in event) || event.type === 'job.members') return
      met(event.job, event.type)
      switch (event.type) {
        case 'job.inserted':
          if (!holders.has(event.job)) holders.set(event.job, null)
          return
        case 'job.claimed':
          return void holders.set(event.job, event.node)
        case 'job.settled':
        case 'job.reclaimed':
        case 'job.timedOut':
        case 'job.takenBack':
          return void (event.state === 'queued' ? holders.set(event.job, null) : holders.delete(event.job))
        default:
      }
    },
    get behaviours() {
      return [...behaviours]
    },
  }
}
