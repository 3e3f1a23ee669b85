/** What a handler gets. */
export interface AttemptContext<Input> {
  readonly input: Input
  readonly job: {
    readonly id: string
    readonly kind: string
    readonly queue: string
    readonly metadata: Readonly<Record<string, string>>
    /** W3C trace context of the enqueue, or null. */
    readonly traceparent: string | null
  }
  readonly attempt: AttemptInfo
  /**
   * Fires when the attempt should end: `AttemptTimeout`, `EngineStopping`, `JobCancelled`, `LeaseLost` or
   * `LeaseUncertain` is its reason. After `LeaseLost` nothing that the handler does is kept.
   */
  readonly signal: AbortSignal
  /** Says how far the attempt is: percent 0 - 100. Throws `LeaseLost` once another attempt runs the job. */
  readonly progress: (percent: number, phase?: string) => Promise<void>
  /**
   * Durable notes that survive attempts, so that a retry resumes: reads the value kept under the key
   * (undefined if there is none), or with a value keeps it. Throws `LeaseLost` once another attempt runs.
   */
  readonly checkpoint: Checkpoint
  /** Waits `delayMs`; rejects with the signal's reason when it fires. */
  readonly sleep: (delayMs: number) => Promise<void>
}

export interface AttemptInfo {
  /** Counts claims: 1 for the first. One that was given back before its start counts too. */
  readonly number: number
  /** Failures charged so far. */
  readonly failures: number
  readonly evictions: number
  /** The fencing token: opaque, and ordered as text among attempts of one job. Hand it to other systems. */
  readonly fence: string
  /** False while this worker cannot vouch for its lease: another may be running the job. */
  readonly leaseCertain: boolean
}

export interface Checkpoint {
  (key: string): Promise<unknown>
  (key: string, value: unknown): Promise<void>
}
