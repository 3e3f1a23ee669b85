import fc, { type Arbitrary } from 'fast-check'
import { InvalidArgument } from '../../engine/errors.ts'
import { requireObject, requireWhole, shown } from '../../engine/given.ts'
import { type JobDescription, requireDefinition } from '../../engine/jobs/definition.ts'
import type { Fault } from '../faults/fault.ts'
import { familyNamed } from '../faults/index.ts'
import { placeOf } from '../run.ts'
import type { WorkStep } from '../scenarios/scenario.ts'
import type { Bench, WorkOptions } from './options.ts'
import { requireBench } from './simulate.ts'

export interface FaultPlanOptions {
  /** How many faults at most; default 10. */
  readonly maxFaults?: number
}

/** More draws than any fault takes. */
const drawsMax = 12
const unit = 2 ** 30
const countMax = 10_000

/**
 * Faults of the families of a bench, on its machines and services, for `trial(bench, { plan })`. fast-check shrinks it to
 * the fewest, each as early, short and plain as it can be. Throws `InvalidArgument`.
 */
export function faultPlan(bench: Bench, options: FaultPlanOptions = {}): Arbitrary<Fault[]> {
  requireBench(bench)
  const { maxFaults = 10 } = options
  requireWhole('maxFaults', maxFaults, { min: 1, max: countMax }, InvalidArgument)
  const place = placeOf(bench)
  const families = bench.families
    .flatMap((name) => familyNamed(name) ?? [])
    .filter(({ name }) => place.services.length > 0 || !name.startsWith('service-'))
  if (families.length === 0) throw new InvalidArgument(`bench ${bench.name} has no fault families`)
  const dice = fc.array(fc.nat({ max: unit - 1 }), { minLength: drawsMax, maxLength: drawsMax })
  const fault = fc.record({ family: fc.constantFrom(...families), dice })
  return fc.array(fault, { maxLength: maxFaults }).map((drawn) =>
    drawn.map(({ family, dice: numbers }, k) => {
      const left = numbers.values()
      // Scaled, not the remainder: what shrinks in the dice shrinks in the fault.
      const draw = (bound: number): number => Math.floor(((left.next().value ?? 0) / unit) * bound)
      return { id: `${family.name} #${k + 1}`, family: family.name, ...family.draw(place, draw) }
    }),
  )
}

export interface WorkloadOptions<Input> {
  readonly job: JobDescription<Input>
  readonly input: Arbitrary<Input>
  /** Further options of the enqueue; the ids are the workload's. */
  readonly options?: Arbitrary<Omit<WorkOptions, 'id' | 'atMs'>>
  /** Jobs arrive within so many ms; default 60,000. */
  readonly withinMs?: number
  /** Default 1. */
  readonly minJobs?: number
  /** Default 10. */
  readonly maxJobs?: number
}

const withinMsMax = 2 ** 40

/**
 * Jobs of one kind with generated inputs and times, for `trial(bench, { steps })`; it shrinks to few jobs that come at
 * once. Ids are the job's name and a number; for several kinds join the lists of several. Throws `InvalidArgument`.
 */
export function workload<Input>(given: WorkloadOptions<Input>): Arbitrary<WorkStep[]> {
  requireObject("workload's options", given, InvalidArgument)
  const { job, input, options = fc.constant({}), withinMs = 60_000, minJobs = 1, maxJobs = 10 } = given
  requireDefinition('job must be a definition', job, InvalidArgument)
  for (const [what, value] of Object.entries({ input, options }))
    if (!(value instanceof fc.Arbitrary))
      throw new InvalidArgument(`${what} must be an arbitrary of fast-check, not ${shown(value)}`)
  requireWhole('withinMs', withinMs, { min: 1, max: withinMsMax }, InvalidArgument)
  requireWhole('maxJobs', maxJobs, { min: 1, max: countMax }, InvalidArgument)
  requireWhole('minJobs', minJobs, { min: 0, max: maxJobs }, InvalidArgument)
  const item = fc.record({ atMs: fc.nat({ max: withinMs - 1 }), input, options })
  return fc.array(item, { minLength: minJobs, maxLength: maxJobs }).map((items) =>
    items.map(({ atMs, input: value, options: more }, k) => ({
      atMs,
      job,
      input: value,
      options: { ...more, id: `${job.name}-${k + 1}` },
    })),
  )
}
