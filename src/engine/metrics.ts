import type { Outcome } from './jobs/record.ts'

/**
 * What operators graph (types only). One member is one measurement; all times are in ms, by this process's
 * monotonic clock unless it says otherwise. Metrics are no part of the history: nothing is decided by them, and
 * where nobody listens they are not even made.
 */
export type Metric =
  /** A claim was answered; `jobs` is how many it brought. A claim that was found again by a recovery is not told of. */
  | { readonly name: 'claim.call'; readonly durationMs: number; readonly jobs: number }
  /** A job was claimed: for how long it had been due, by the database's clock. Not told of a recovered claim. */
  | {
      readonly name: 'claim.latency'
      readonly queue: string
      readonly kind: string
      readonly latencyMs: number
    }
  /**
   * An attempt that had started is over: how long since its start. `end` is what it was settled as, or `lost`: its
   * lease was taken, and what it did is discarded.
   */
  | {
      readonly name: 'attempt.run'
      readonly queue: string
      readonly kind: string
      readonly end: Outcome['kind'] | 'lost'
      readonly durationMs: number
    }
  /** This process lost the lease of a job that it held: an eviction, as its victim learns of it. */
  | { readonly name: 'job.evicted'; readonly queue: string; readonly kind: string }
  /** This process took a job back. `why`: its lease lapsed, it had none, or its attempt outran its timeout. */
  | {
      readonly name: 'job.reclaimed'
      readonly why: 'silent' | 'unleased' | 'timeout'
      readonly state: 'queued' | 'failed' | 'cancelled'
    }
  /** An attempt failed, and the job goes back to its queue. `failures`: charged so far, this one included. */
  | {
      readonly name: 'job.retried'
      readonly queue: string
      readonly kind: string
      readonly failures: number
    }
  /** The store took so many lines of a job's log; what is lost, the event `log.lost` tells. */
  | { readonly name: 'log.lines'; readonly queue: string; readonly kind: string; readonly lines: number }
  /** A job was dead-lettered: an attempt of this process failed for good, or was the last that may fail. */
  | { readonly name: 'job.deadLettered'; readonly queue: string; readonly kind: string }
  /**
   * A renewal was answered: what was left, at the least, of the leases of this process, counted from the sending of
   * the renewal before. Close to 0: heartbeats come late, or the store is slow. Below: leases had become uncertain.
   */
  | { readonly name: 'lease.margin'; readonly marginMs: number }
  /** A store call ended, its repeats included. `failed`: whether one that failed may have taken effect, or was answered. */
  | {
      readonly name: 'store.call'
      readonly call: string
      readonly durationMs: number
      readonly failed: 'no' | 'maybe' | 'answered' | null
    }
  /**
   * Now and then, of each queue of this engine: for how long its longest due job has been due, by the database's
   * clock; 0 if none is due.
   */
  | { readonly name: 'queue.age'; readonly queue: string; readonly ageMs: number }
  /** Retention removed jobs that had ended, and were kept for long enough. */
  | { readonly name: 'jobs.removed'; readonly jobs: number }
  /** A sweep had its turn: by how much later than it was due. */
  | { readonly name: 'loop.lag'; readonly lagMs: number }

/** Null where nobody listens: whoever measures asks first. */
export type Measure = ((metric: Metric) => void) | null
