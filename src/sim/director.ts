import { IdConflict, StoreUnavailable } from '../engine/errors.ts'
import type { HistoryEvent } from '../engine/history.ts'
import type { Enqueued } from '../engine/jobs/insert.ts'
import { type JobState, isTerminal } from '../engine/jobs/record.ts'
import { retentionOf } from '../engine/retention/options.ts'
import { defaultIntervals } from '../engine/settings.ts'
import { type Books, copyOf, putBack } from './books.ts'
import { convergenceBoundMs } from './convergence.ts'
import type { Fault } from './faults/fault.ts'
import { familyNamed } from './faults/index.ts'
import { letGo } from './faults/operator.ts'
import { enqueueHalf } from './half-done.ts'
import { awaitResult } from './awaiting.ts'
import { finalLogOf, finalOf } from './history-of.ts'
import { askHealth } from './health.ts'
import { finalMembersOf } from './members.ts'
import { type Looker, startLooking } from './looker.ts'
import { type Incarnation, type SimNode, resume, setPace, startProcess } from './node.ts'
import { isMixed } from './releases.ts'
import type { Scenario, WorkItem, WorkStep } from './scenarios/scenario.ts'
import { keepSchedules } from './schedules.ts'
import { refusedStep } from './workload.ts'
import type { World } from './world.ts'

/** After the last job has ended, for repeats and late messages to show what they do. */
const quietMs = 15_000

/**
 * The course of a run: work arrives and faults strike, then everything is healed and must converge within
 * its bound, then the final state is told.
 */
export interface Director {
  begin(): void
  watch(event: HistoryEvent): void
  readonly over: boolean
  readonly converged: boolean
}

export function createDirector(
  world: World,
  scenario: Scenario,
  client: SimNode,
  plan: readonly Fault[],
  steps: readonly WorkStep[],
): Director {
  const books: Books = { ...world.ledger, known: new Set(), retries: new Map() }
  const { known, open, stopped, dead, retries } = books
  /** As they were when the database was copied. */
  let backup = copyOf(books)
  /** How often each id was sent, as its producers know. */
  const sends = new Map<string, number>()
  let looker: Looker | null = null
  const state = {
    unsent: steps.length,
    healed: false,
    over: false,
    converged: false,
    ending: false,
    late: false,
    ended: false,
  }

  function begin(): void {
    const intervals = { ...defaultIntervals, ...scenario.intervals }
    world.recorder.happened(null, {
      type: 'run.started',
      sweepMs: intervals.sweepMs,
      storeCallMs: world.database.raw.callMs,
      replyMs: intervals.replyMs,
      abandonMs: intervals.abandonMs,
      pollMsMax: intervals.pollMsMax,
      deadLetterMs: retentionOf(scenario.retention ?? false)?.deadLetterMs ?? null,
    })
    for (const node of world.nodes) {
      if (node !== client)
        world.later(world.chooser.below(5_000, 'boot', node.name, 'at', 0), 'boot', () => world.start(node))
    }
    const engine = startProcess(world, client)
    const sender = client.process as Incarnation
    for (const step of steps) world.schedule(sender, step.atMs, 'submit', () => void submit(step))
    if (scenario.looksEveryMs !== undefined) looker = startLooking(world, sender, scenario.looksEveryMs)
    keepSchedules(world, { owner: sender, engine }, scenario.schedules ?? [])
    for (const fault of plan)
      world.later(fault.atMs, 'fault', () => familyNamed(fault.family)?.strike(world, fault))
    world.later(scenario.activeMs, 'heal', heal)

    /** Sends until the store has answered: the producer's part of losing no job. */
    async function submit(step: WorkStep): Promise<void> {
      const items: readonly WorkItem[] = [step, ...(step.also ?? [])]
      for (const { options } of items) sends.set(options.id, (sends.get(options.id) ?? 0) + 1)
      try {
        for (const { id: job, created } of await enqueued(step, items)) {
          const tries = sends.get(job) ?? 0
          world.recorder.happened(sender, { type: 'enqueue.acknowledged', job, created, tries })
          if (step.awaitedMs !== undefined) awaitResult(world, sender, engine, job, step.awaitedMs)
        }
      } catch (error) {
        if (error instanceof StoreUnavailable)
          return void world.schedule(sender, 1_000, 'submit', () => void submit(step))
        if (!(error instanceof IdConflict)) return world.fail(refusedStep(step, error))
        for (const job of error.ids) world.recorder.happened(sender, { type: 'enqueue.refused', job })
      }
      state.unsent -= 1
      endIfDone()
    }

    function enqueued(
      { undispatched = false }: WorkStep,
      items: readonly WorkItem[],
    ): Promise<readonly Enqueued[]> {
      if (undispatched) return enqueueHalf(world, sender, engine.store, items)
      return engine.enqueueMany(items.map(({ job, input, options }) => ({ ...options, job, input })))
    }
  }

  function heal(): void {
    world.database.comeUp()
    world.database.makeRoom()
    world.services.down.clear()
    world.services.refused.clear()
    for (const node of world.nodes) {
      node.armed.length = 0
      node.refused = null
      node.timers = null
      setPace(world, node, 1)
      // One that is stopping comes back by itself.
      if (node.process) resume(world, node.process)
      else world.start(node)
    }
    letGo(world)
    world.operator.busy
      .then(() => world.database.dump())
      .then(({ jobs }) => {
        state.healed = true
        const boundMs = convergenceBoundMs(jobs, steps, scenario, world)
        world.recorder.happened(null, { type: 'run.healed', boundMs })
        world.later(boundMs, 'bound', () => {
          state.late = true
          if (!state.ending) end(false)
        })
        endIfDone()
      }, world.fail)
  }

  function watch(event: HistoryEvent): void {
    askHealth(world, event)
    switch (event.type) {
      case 'job.inserted':
        // The repeat of an insert whose reply was lost says again that it created the job.
        if (!known.has(event.job)) open.add(event.job)
        known.add(event.job)
        return
      case 'job.settled':
        if (event.settled === 'applied' && event.state !== null && isTerminal(event.state))
          close(event.job, event.state)
        return
      case 'job.reclaimed':
      case 'job.timedOut':
        if (event.state !== 'queued') close(event.job, event.state)
        return
      case 'job.cancelRequested':
        if (event.kind === 'cancelled') close(event.job, 'cancelled')
        return
      case 'job.takenBack':
        if (event.state === 'cancelled') close(event.job, event.state)
        return
      case 'database.backedUp':
        backup = copyOf(books)
        return
      case 'database.restored':
        return putBack(books, backup)
      case 'job.replayed':
      case 'job.discarded':
        return void dead.delete(event.job)
      case 'job.removed':
        // Whoever sends it again has a new one.
        known.delete(event.job)
        stopped.delete(event.job)
        return
      case 'job.commanded':
        if (event.command !== 'retry' || !event.applied || retries.get(event.job) === event.token) return
        retries.set(event.job, event.token)
        stopped.delete(event.job)
        dead.delete(event.job)
        open.add(event.job)
        return
      default:
    }
  }

  function close(job: string, end: JobState): void {
    open.delete(job)
    if (end !== 'succeeded') stopped.add(job)
    if (end === 'failed') dead.add(job)
    endIfDone()
  }

  function endIfDone(): void {
    if (!state.healed || state.unsent > 0 || open.size > 0 || state.ending) return
    state.ending = true
    world.later(quietMs, 'end', () => {
      state.ending = false
      // A command that was still on its way may have set a job going again.
      if (open.size > 0 && !state.late) return
      const converged = open.size === 0
      if (looker) looker.last().then(() => end(converged), world.fail)
      else end(converged)
    })
  }

  function end(converged: boolean): void {
    if (state.ended) return
    state.ended = true
    state.converged = converged
    world.database.dump().then((content) => {
      const { jobs, claims, logs } = content
      for (const job of jobs) world.recorder.happened(null, finalOf(job))
      for (const log of logs) world.recorder.happened(null, finalLogOf(log))
      if (isMixed(world)) for (const event of finalMembersOf(content)) world.recorder.happened(null, event)
      const tokens = claims.filter((claim) => !claim.void).map(({ token }) => token)
      world.recorder.happened(null, { type: 'run.ended', converged, tokens })
      state.over = true
    }, world.fail)
  }

  return {
    begin,
    watch,
    get over() {
      return state.over
    },
    get converged() {
      return state.converged
    },
  }
}
