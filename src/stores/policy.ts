/**
 * What may be done with a call after a failure that left its outcome unknown. A failure before sending
 * (`sent: 'no'`) is always repeated.
 *
 * - `repeat`: the same call again is harmless and answers the same (but for `leases.release`, which then
 *   answers that there was nothing to release).
 * - `confirm`: again, marked as a repeat, so that the store recognises its own first outcome.
 * - `never`: the caller is told, and knows what to do.
 */
export type AfterUnknown = 'repeat' | 'confirm' | 'never'

export type StoreCall =
  | 'jobs.insert'
  | 'jobs.settle'
  | 'jobs.reclaim'
  | 'jobs.expireTimeouts'
  | 'jobs.adopt'
  | 'jobs.get'
  | 'jobs.outcomes'
  | 'jobs.queueAges'
  | 'jobs.requestCancel'
  | 'jobs.retry'
  | 'jobs.reschedule'
  | 'jobs.progress'
  | 'jobs.checkpoint'
  | 'jobs.checkpoints'
  | 'jobs.repairDispatch'
  | 'claims.claim'
  | 'claims.recover'
  | 'claims.renew'
  | 'claims.collect'
  | 'watch.declare'
  | 'watch.move'
  | 'leases.acquire'
  | 'leases.renew'
  | 'leases.release'
  | 'control.set'
  | 'control.get'
  | 'queries.list'
  | 'queries.counts'
  | 'schedules.put'
  | 'schedules.remove'
  | 'schedules.get'
  | 'schedules.list'
  | 'schedules.pause'
  | 'schedules.due'
  | 'schedules.fire'
  | 'deadLetters.list'
  | 'deadLetters.replay'
  | 'deadLetters.discard'
  | 'logs.append'
  | 'logs.page'
  | 'logs.tail'
  | 'control.restored'
  | 'retention.sweep'
  | 'retention.sweepLeases'
  | 'commits.transact'
  | 'commits.confirm'
  | 'now'

/** Only a settle can say that it is a repeat. */
type Policy = {
  readonly [Call in StoreCall]: Call extends 'jobs.settle' ? AfterUnknown : Exclude<AfterUnknown, 'confirm'>
}

export const afterUnknown: Policy = {
  'jobs.insert': 'repeat',
  'jobs.settle': 'confirm',
  'jobs.reclaim': 'never',
  'jobs.expireTimeouts': 'never',
  'jobs.adopt': 'never',
  'jobs.get': 'repeat',
  'jobs.outcomes': 'repeat',
  'jobs.queueAges': 'repeat',
  'jobs.requestCancel': 'repeat',
  'jobs.retry': 'repeat',
  'jobs.reschedule': 'repeat',
  'jobs.progress': 'repeat',
  'jobs.checkpoint': 'repeat',
  'jobs.checkpoints': 'repeat',
  'jobs.repairDispatch': 'never',
  'claims.claim': 'never',
  'claims.recover': 'repeat',
  'claims.renew': 'repeat',
  'claims.collect': 'never',
  'watch.declare': 'repeat',
  'watch.move': 'never',
  'leases.acquire': 'never',
  'leases.renew': 'repeat',
  'leases.release': 'repeat',
  'control.set': 'repeat',
  'control.get': 'repeat',
  'queries.list': 'repeat',
  'queries.counts': 'repeat',
  'schedules.put': 'repeat',
  'schedules.remove': 'repeat',
  'schedules.get': 'repeat',
  'schedules.list': 'repeat',
  'schedules.pause': 'repeat',
  'schedules.due': 'repeat',
  'schedules.fire': 'repeat',
  'deadLetters.list': 'repeat',
  'deadLetters.replay': 'repeat',
  'deadLetters.discard': 'repeat',
  'logs.append': 'repeat',
  'logs.page': 'repeat',
  'logs.tail': 'repeat',
  'control.restored': 'repeat',
  'retention.sweep': 'never',
  'retention.sweepLeases': 'never',
  'commits.transact': 'never',
  'commits.confirm': 'repeat',
  now: 'repeat',
}

/** What a call does to the store: `insert` adds rows, `write` only changes or removes some, `read` does neither. */
export type Access = 'read' | 'write' | 'insert'

export const access: Readonly<Record<StoreCall, Access>> = {
  'jobs.insert': 'insert',
  'jobs.settle': 'write',
  'jobs.reclaim': 'write',
  'jobs.expireTimeouts': 'write',
  'jobs.adopt': 'write',
  'jobs.get': 'read',
  'jobs.outcomes': 'read',
  'jobs.queueAges': 'read',
  'jobs.requestCancel': 'write',
  'jobs.retry': 'write',
  'jobs.reschedule': 'write',
  'jobs.progress': 'write',
  'jobs.checkpoint': 'insert',
  'jobs.checkpoints': 'read',
  'jobs.repairDispatch': 'write',
  'claims.claim': 'insert',
  'claims.recover': 'insert',
  'claims.renew': 'write',
  'claims.collect': 'write',
  'watch.declare': 'write',
  'watch.move': 'write',
  'leases.acquire': 'insert',
  'leases.renew': 'write',
  'leases.release': 'write',
  'control.set': 'write',
  'control.get': 'read',
  'queries.list': 'read',
  'queries.counts': 'read',
  'schedules.put': 'insert',
  'schedules.remove': 'write',
  'schedules.get': 'read',
  'schedules.list': 'read',
  'schedules.pause': 'write',
  'schedules.due': 'read',
  'schedules.fire': 'insert',
  'deadLetters.list': 'read',
  'deadLetters.replay': 'insert',
  'deadLetters.discard': 'write',
  'logs.append': 'insert',
  'logs.page': 'read',
  'logs.tail': 'read',
  'control.restored': 'write',
  'retention.sweep': 'write',
  'retention.sweepLeases': 'write',
  // The rows that a handler adds are none of ours.
  'commits.transact': 'write',
  'commits.confirm': 'write',
  now: 'read',
}

export const backoffMs: readonly number[] = [200, 500, 1_000, 2_000]
