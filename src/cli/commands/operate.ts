import type { Engine } from '../../engine/api.ts'
import { createEngine } from '../../engine/engine.ts'
import type { Control } from '../../engine/ports/store.ts'
import { inert, inertJson, quoted } from '../../report/format.ts'
import { type ExitCode, type PlaceOptions, atPlace } from '../place.ts'

/** What an operator does to jobs and queues, in a word each. */

export interface OperateOptions extends PlaceOptions {
  readonly json?: boolean
}

/** What was done or found: text for people, the same as data; `ok` false if there was nothing that it could be done to. */
export interface Done {
  readonly says: string
  readonly data: object
  readonly ok?: boolean
  /** What put an end to it after some was done: it is thrown when that has been told. */
  readonly broke?: unknown
}

/** Through an engine that neither claims nor sweeps. */
export async function operate(
  options: OperateOptions,
  work: (engine: Engine) => Promise<Done>,
): Promise<ExitCode> {
  return atPlace(options, async (store) => {
    const { says, data, ok = true, broke } = await work(createEngine({ store, name: 'cli' }))
    if (options.json) process.stdout.write(`${inertJson(data)}\n`)
    else if (says !== '') process.stdout.write(`${says}\n`)
    if (broke !== undefined) throw broke
    return ok ? 0 : 1
  })
}

export function cancel(id: string, options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => {
    const state = await engine.cancel(id)
    const said =
      state === null
        ? 'there is no such job'
        : state === 'cancelled'
          ? 'cancelled'
          : state === 'requested'
            ? 'is running, and is told to end at its next heartbeat'
            : `had ${state} already`
    const ok = state === 'cancelled' || state === 'requested'
    return { says: `job ${inert(id)}: ${said}`, data: { id, state }, ok }
  })
}

export interface VersionOptions extends OperateOptions {
  readonly jobVersion?: number
}

export function retry(id: string, options: VersionOptions): Promise<ExitCode> {
  const { jobVersion: version } = options
  return operate(options, async (engine) => {
    await engine.retry(id, version === undefined ? {} : { version })
    return { says: `job ${inert(id)}: starts anew`, data: { id, state: 'queued' } }
  })
}

export function hold(options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => switched(await engine.hold()))
}

export interface ResumeOptions extends OperateOptions {
  readonly restored?: boolean
}

export function resume(options: ResumeOptions): Promise<ExitCode> {
  const { restored = false } = options
  return operate(options, async (engine) => switched(await engine.resume({ restored })))
}

export function pause(queue: string, options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => switched(await engine.pause(queue)))
}

export function unpause(queue: string, options: OperateOptions): Promise<ExitCode> {
  return operate(options, async (engine) => switched(await engine.unpause(queue)))
}

function switched(control: Control): Done {
  const { hold: held, paused } = control
  const says = [
    ...(held ? ['nothing is claimed, by any worker, until: holdfast resume'] : []),
    ...paused.map(
      (queue) => `nothing is claimed of ${inert(queue)}, until: holdfast unpause ${quoted(queue)}`,
    ),
  ]
  return { says: says.join('\n') || 'all queues are worked on', data: { ...control } }
}
