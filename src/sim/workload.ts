import { InvalidArgument } from '../engine/errors.ts'
import { shown } from '../engine/given.ts'
import { requireDefinition } from '../engine/jobs/definition.ts'
import { textOf } from '../engine/jobs/text.ts'
import type { Scenario, WorkStep } from './scenarios/scenario.ts'

/** What a user's workload answers, looked at before anything runs. Throws `InvalidArgument` naming the step. */
export function requireSteps(scenario: Scenario, steps: unknown): asserts steps is readonly WorkStep[] {
  const of = `the workload of scenario ${scenario.name}`
  if (!Array.isArray(steps))
    throw new InvalidArgument(`${of} must answer a list of steps, not ${shown(steps)}`)
  const ids = new Map<string, number>()
  for (const [k, step] of steps.entries()) {
    const problem = problemOf(step)
    if (problem !== null) throw new InvalidArgument(`${of}: step ${k}: ${problem}`)
    const {
      options: { id },
      again = false,
    } = step as WorkStep
    if (again) continue
    if (ids.has(id))
      throw new InvalidArgument(`${of}: steps ${ids.get(id)} and ${k} both have the id ${shown(id)}`)
    ids.set(id, k)
  }
}

/** An input or an option that the engine would not take, told with the step it came from. */
export function refusedStep({ options }: WorkStep, error: unknown): unknown {
  if (!(error instanceof InvalidArgument)) return error
  return new InvalidArgument(`the step with the id ${shown(options.id)} cannot be enqueued: ${textOf(error)}`)
}

function problemOf(step: unknown): string | null {
  if (typeof step !== 'object' || step === null) return `must be an object, not ${shown(step)}`
  const { atMs, job, options } = step as Partial<Record<keyof WorkStep, unknown>>
  if (!(typeof atMs === 'number' && Number.isFinite(atMs) && atMs >= 0)) {
    return `atMs must be a number of ms >= 0, not ${shown(atMs)}`
  }
  try {
    requireDefinition('job must be a definition', job, InvalidArgument)
  } catch (error) {
    return (error as InvalidArgument).message
  }
  const id = (options as { readonly id?: unknown } | null | undefined)?.id
  if (typeof id === 'string' && id !== '') return null
  return `options.id must be a string of its own, so that the run is the same each time, not ${shown(id)}`
}
