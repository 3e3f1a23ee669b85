import type { Attempt } from './attempt.ts'

/** A claim from the moment it is sent until every settle under its token is confirmed. */
export interface HeldClaim {
  readonly token: string
  /** Monotonic time of sending the claim, or the last renewal that succeeded: what its leases count from. */
  sentAtMs: number
  /** The claim's reply (or its recovery) is in. */
  answered: boolean
  readonly attempts: Set<Attempt>
}

/** The claims of this process. What the loops ask for at every event is kept at hand, never searched for. */
export interface Held {
  readonly claims: ReadonlyMap<string, HeldClaim>
  /** Attempts that have a lease. A handler that runs on after its attempt was settled or lost has none. */
  readonly attempts: number
  /** Attempts that cannot be vouched for. */
  readonly uncertain: number
  /** Of the leases held; infinite when there are none. */
  readonly shortestTtlMs: number
  open(token: string, sentAtMs: number): HeldClaim
  add(claim: HeldClaim, attempt: Attempt): void
  answered(claim: HeldClaim): void
  /** Answers whether the attempt was there. */
  remove(claim: HeldClaim, attempt: Attempt): boolean
  /** Takes note of whether the attempt can be vouched for now. */
  note(attempt: Attempt): void
}

export function createHeld(): Held {
  const claims = new Map<string, HeldClaim>()
  const uncertain = new Set<Attempt>()
  /** How many attempts there are of each TTL: there are few TTLs. */
  const byTtl = new Map<number, number>()
  let attempts = 0

  function count(attempt: Attempt, by: 1 | -1): void {
    const { leaseTtlMs } = attempt.job.spec
    const left = (byTtl.get(leaseTtlMs) ?? 0) + by
    if (left > 0) byTtl.set(leaseTtlMs, left)
    else byTtl.delete(leaseTtlMs)
    attempts += by
  }

  function closeIfDone(claim: HeldClaim): void {
    if (claim.answered && claim.attempts.size === 0) claims.delete(claim.token)
  }

  const held: Held = {
    claims,
    get attempts() {
      return attempts
    },
    get uncertain() {
      return uncertain.size
    },
    get shortestTtlMs() {
      let shortestMs = Number.POSITIVE_INFINITY
      for (const ttlMs of byTtl.keys()) shortestMs = Math.min(shortestMs, ttlMs)
      return shortestMs
    },
    open: (token, sentAtMs) => {
      const claim: HeldClaim = { token, sentAtMs, answered: false, attempts: new Set() }
      claims.set(token, claim)
      return claim
    },
    add: (claim, attempt) => {
      claim.attempts.add(attempt)
      count(attempt, 1)
      held.note(attempt)
    },
    answered: (claim) => {
      claim.answered = true
      closeIfDone(claim)
    },
    remove: (claim, attempt) => {
      if (!claim.attempts.delete(attempt)) return false
      count(attempt, -1)
      uncertain.delete(attempt)
      closeIfDone(claim)
      return true
    },
    note: (attempt) => {
      if (attempt.certain()) uncertain.delete(attempt)
      else uncertain.add(attempt)
    },
  }
  return held
}
