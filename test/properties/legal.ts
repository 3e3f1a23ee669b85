// Histories that a correct store could have written: a random walk of one job through a machine that was
// written from the contract, not from the code. It knows two workers, one of which may be a zombie.
import fc from 'fast-check'
import * as dsl from './dsl.ts'

const moves = [
  'claim',
  'start',
  'renew',
  'succeed',
  'fail',
  'release',
  'repeat',
  'reclaim',
  'timeout',
  'zombie',
  'note',
  'cancel',
  'retry',
  'discard',
] as const
type Move = (typeof moves)[number]

interface Machine {
  readonly history: dsl.Draft[]
  epoch: number
  attempt: number
  failures: number
  evictions: number
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'
  /** Its end was asked for while it ran. */
  cancel: boolean
  /** Nobody is to replay it. */
  discarded: boolean
  retries: number
  version: number
  holder: string
  started: boolean
  /** The settle that applied last, for its sender to repeat; and an epoch that was taken from somebody. */
  done: { epoch: number; outcome: 'succeeded' | 'failed' | 'released'; by: string } | null
  taken: { epoch: number; by: string } | null
}

const limits = { maxAttempts: 3, maxEvictions: 2 }

function step(m: Machine, move: Move, by: string): void {
  const running = m.state === 'running'
  if (move === 'claim' && m.state === 'queued') {
    m.epoch += 1
    m.attempt += 1
    m.version += 1
    Object.assign(m, { state: 'running', holder: by, started: false })
    m.history.push(
      dsl.claimed('a', {
        by,
        epoch: m.epoch,
        attempt: m.attempt,
        failures: m.failures,
        evictions: m.evictions,
      }),
    )
  } else if (move === 'start' && running && !m.started) {
    m.started = true
    m.history.push(dsl.started('a', { by: m.holder, epoch: m.epoch }))
  } else if (move === 'renew' && running) m.history.push(dsl.renewed('a', { by: m.holder, epoch: m.epoch }))
  else if (move === 'succeed' && running) settle(m, 'succeeded')
  else if (move === 'fail' && running) settle(m, 'failed')
  else if (move === 'release' && running) settle(m, 'released')
  else if (move === 'repeat' && m.done)
    m.history.push(dsl.settled('a', { ...m.done, repeated: true, state: m.state }))
  else if (move === 'zombie' && m.taken)
    m.history.push(dsl.settled('a', { ...m.taken, settled: 'lost', state: m.state }))
  else if (move === 'note' && running) m.history.push(dsl.noted('a', { by: m.holder, epoch: m.epoch }))
  else if (move === 'note' && m.taken) m.history.push(dsl.noted('a', { ...m.taken, applied: false }))
  else if (move === 'cancel') cancel(m)
  else if (move === 'retry' && (m.state === 'failed' || m.state === 'cancelled')) {
    Object.assign(m, { state: 'queued', failures: 0, evictions: 0, cancel: false, retries: m.retries + 1 })
    m.discarded = false
    const asked = m.version++
    m.history.push(dsl.commanded('a', { token: `c${m.retries}`, asked, version: m.version }))
  } else if (move === 'discard' && m.state === 'failed') {
    if (!m.discarded) m.version += 1
    m.history.push(dsl.discarded('a', { applied: !m.discarded }))
    m.discarded = true
  } else if ((move === 'reclaim' || move === 'timeout') && running) take(m, move)
}

function cancel(m: Machine): void {
  if (m.state === 'running') {
    if (!m.cancel) m.version += 1
    m.cancel = true
    m.history.push(dsl.cancelAsked('a', { kind: 'requested' }))
  } else if (m.state === 'queued' || m.state === 'cancelled') {
    if (m.state === 'queued') m.version += 1
    m.cancel = true
    m.state = 'cancelled'
    m.history.push(dsl.cancelAsked('a'))
  }
}

/** A job whose end was asked for does not go back to its queue. */
function returned(m: Machine): 'queued' | 'cancelled' {
  return m.cancel ? 'cancelled' : 'queued'
}

function settle(m: Machine, outcome: 'succeeded' | 'failed' | 'released'): void {
  m.version += 1
  if (outcome === 'failed') m.failures += 1
  const spent = outcome === 'failed' && m.failures >= limits.maxAttempts
  m.state = outcome === 'succeeded' ? 'succeeded' : spent ? 'failed' : returned(m)
  m.done = { epoch: m.epoch, outcome, by: m.holder }
  m.history.push(dsl.settled('a', { ...m.done, state: m.state }))
}

function take(m: Machine, how: 'reclaim' | 'timeout'): void {
  m.taken = { epoch: m.epoch, by: m.holder }
  m.epoch += 1
  m.version += 1
  if (how === 'reclaim') m.evictions += 1
  else m.failures += 1
  const spent = how === 'reclaim' ? m.evictions >= limits.maxEvictions : m.failures >= limits.maxAttempts
  const state = spent ? 'failed' : returned(m)
  m.state = state
  const { epoch, evictions, failures } = m
  m.history.push(
    how === 'reclaim'
      ? dsl.reclaimed('a', { epoch, evictions, state })
      : dsl.timedOut('a', { epoch, failures, state }),
  )
}

const walk = fc.array(fc.tuple(fc.constantFrom(...moves), fc.constantFrom('w1', 'w2')), { maxLength: 60 })

export const legal: fc.Arbitrary<readonly dsl.Draft[]> = walk.map((list) => {
  const m: Machine = {
    history: [dsl.inserted('a', limits)],
    epoch: 0,
    attempt: 0,
    failures: 0,
    evictions: 0,
    state: 'queued',
    holder: '',
    started: false,
    done: null,
    taken: null,
    cancel: false,
    discarded: false,
    retries: 0,
    version: 1,
  }
  for (const [move, by] of list) step(m, move, by)
  const { attempt, failures, evictions, epoch, version, state } = m
  const dead = state === 'failed' && !m.discarded
  return [
    ...m.history,
    dsl.final('a', { attempt, failures, evictions, epoch, version, state, dead }),
    dsl.ended(),
  ]
})
