/** What a handler gets. */
export interface AttemptContext<Input> {
  readonly input: Input
  readonly job: { readonly id: string; readonly kind: string; readonly queue: string }
  readonly attempt: AttemptInfo
  /**
   * Fires when the attempt should end: `AttemptTimeout`, `EngineStopping`, `LeaseLost`, or `LeaseUncertain`
   * is its reason. After `LeaseLost` nothing that the handler does is kept.
   */
  readonly signal: AbortSignal
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
