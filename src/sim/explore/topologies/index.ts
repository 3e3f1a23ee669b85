import { InvalidArgument } from '../../../engine/errors.ts'
import type { Topology } from '../topology.ts'
import { allLengths } from './all-lengths.ts'
import { cancelAgainstComplete } from './cancel-against-complete.ts'
import { claimRace } from './claim-race.ts'
import { holdAgainstClaim } from './hold-against-claim.ts'
import { leaderHandOver } from './leader-hand-over.ts'
import { leaseLapse } from './lease-lapse.ts'
import { lostClaimReply } from './lost-claim-reply.ts'
import { lone } from './lone.ts'
import { longWork } from './long-work.ts'
import { moreJobsThanSlots } from './more-jobs-than-slots.ts'
import { outageAndGrace } from './outage-and-grace.ts'
import { reclaimAgainstSettle } from './reclaim-against-settle.ts'
import { replayRace } from './replay-race.ts'
import { retryAgainstReclaim } from './retry-against-reclaim.ts'
import { scheduleHandOver } from './schedule-hand-over.ts'
import { shutdownAgainstClaim } from './shutdown-against-claim.ts'
import { standard } from './standard.ts'
import { zombieSettle } from './zombie-settle.ts'

/** The small systems whose schedules are explored, each around one race; the large ones last. */
export const topologies: readonly Topology[] = [
  claimRace,
  lostClaimReply,
  leaseLapse,
  zombieSettle,
  reclaimAgainstSettle,
  cancelAgainstComplete,
  outageAndGrace,
  longWork,
  moreJobsThanSlots,
  shutdownAgainstClaim,
  retryAgainstReclaim,
  holdAgainstClaim,
  leaderHandOver,
  scheduleHandOver,
  replayRace,
  standard,
  allLengths,
  lone,
]

/** Throws `InvalidArgument` where there is none of that name. */
export function topologyNamed(name: string, known: readonly Topology[]): Topology {
  const topology = known.find((candidate) => candidate.name === name)
  if (topology) return topology
  throw new InvalidArgument(
    `there is no topology ${name}; there are ${known.map((other) => other.name).join(', ')}`,
  )
}

/** Those among the scenarios that a module exports. */
export function isTopology(value: unknown): value is Topology {
  return typeof value === 'object' && value !== null && 'horizonMs' in value
}
