import { InvalidConfig } from '../../engine/errors.ts'
import { requireFunction, requireObject, requireWhole, shown } from '../../engine/given.ts'
import { type JobDescription, isHandled, requireDefinition } from '../../engine/jobs/definition.ts'
import { requireName } from '../../engine/jobs/text.ts'
import { type Intervals, intervalsOf } from '../../engine/settings.ts'
import { familyNamed } from '../faults/index.ts'
import { problemOfProperties, problemOfServices } from '../own.ts'
import type { WorkStep } from '../scenarios/scenario.ts'
import { type AnyPorts, deafPorts } from '../services/port.ts'
import type { Service } from '../services/service.ts'
import { fittingFamilies } from './families.ts'
import type { Bench, BenchOptions, FaultChoice } from './options.ts'

const workersMax = 100
const concurrencyMax = 1_000
const activeMsMax = 2 ** 40

/** Checks what it is given, and makes a bench of it. Throws `InvalidConfig` naming the field. */
export function bench<const S extends readonly Service[] = readonly []>(options: BenchOptions<S>): Bench {
  requireObject("bench's options", options, InvalidConfig)
  requireName('bench: name', options.name, InvalidConfig)
  const { name, says = name, module = null, workload, properties = [], ambient = 'refuse' } = options
  const of = `bench ${name}`
  if (module !== null && !(typeof module === 'string' && URL.canParse(module)))
    throw new InvalidConfig(`${of}: module must be a URL, as import.meta.url is, not ${shown(module)}`)
  if (ambient !== 'refuse' && ambient !== 'virtual')
    throw new InvalidConfig(`${of}: ambient must be 'refuse' or 'virtual', not ${shown(ambient)}`)
  requireFunction(`${of}: workload`, workload, InvalidConfig)
  refuseIf(of, problemOfProperties(properties))
  const services: readonly Service[] = options.services ?? []
  refuseIf(of, problemOfServices(services))
  const { workers = 3, concurrency = 5, activeMs = 300_000 } = options
  requireWhole(`${of}: workers`, workers, { min: 1, max: workersMax }, InvalidConfig)
  requireWhole(`${of}: concurrency`, concurrency, { min: 1, max: concurrencyMax }, InvalidConfig)
  requireWhole(`${of}: activeMs`, activeMs, { min: 1, max: activeMsMax }, InvalidConfig)
  return {
    name,
    says,
    module,
    workers,
    concurrency,
    activeMs,
    ...jobsOf(of, options.jobs as Jobs, services),
    workload: (draw) => stepsOf(of, workload, activeMs, draw),
    properties,
    services,
    ambient,
    ...(options.intervals !== undefined && { intervals: checkedIntervals(of, options.intervals) }),
    ...faultsOf(of, options.faults, services.length > 0),
  }
}

function refuseIf(of: string, problem: string | null): void {
  if (problem !== null) throw new InvalidConfig(`${of}: ${problem}`)
}

type Jobs = readonly JobDescription[] | ((ports: AnyPorts) => readonly JobDescription[])

function jobsOf(of: string, given: Jobs, services: readonly Service[]): Pick<Bench, 'jobs' | 'jobsOf'> {
  if (typeof given !== 'function') return { jobs: checkedJobs(of, given) }
  const jobs = checkedJobs(of, given(deafPorts(services)))
  const names = jobs.map((job) => job.name).join(', ')
  return {
    jobs,
    jobsOf: (ports) => {
      const own = checkedJobs(of, given(ports))
      const named = own.map((job) => job.name).join(', ')
      if (named === names) return own
      throw new InvalidConfig(
        `${of}: jobs must name the same each time it is called: ${names}, then ${named}`,
      )
    },
  }
}

function checkedJobs(of: string, jobs: readonly JobDescription[]): readonly JobDescription[] {
  if (!Array.isArray(jobs))
    throw new InvalidConfig(`${of}: jobs must be a list or a function that answers one, not ${shown(jobs)}`)
  for (const [k, job] of jobs.entries())
    requireDefinition(`${of}: jobs: number ${k} must be a definition`, job, InvalidConfig)
  const names = new Set(jobs.map(({ name }) => name))
  if (names.size < jobs.length) throw new InvalidConfig(`${of}: jobs has two of one name`)
  if (jobs.some(isHandled)) return jobs
  throw new InvalidConfig(`${of}: jobs has none with a handler: add them with .handle(run)`)
}

function stepsOf(
  of: string,
  workload: BenchOptions<readonly []>['workload'],
  activeMs: number,
  draw: (bound: number, what: string, k: number) => number,
): readonly WorkStep[] {
  const steps: WorkStep[] = []
  const answered: unknown = workload({
    activeMs,
    draw: (bound, what, k = 0) => draw(bound, what, k),
    enqueue: (job, input, options) => {
      const { atMs = 0, ...rest } = options
      steps.push({ atMs, job, input, options: rest })
    },
  })
  if (answered === undefined) return steps
  throw new InvalidConfig(
    `${of}: workload must call enqueue, and answer nothing: it answered ${shown(answered)}`,
  )
}

function checkedIntervals(of: string, intervals: Partial<Intervals>): Partial<Intervals> {
  try {
    intervalsOf(intervals)
    return intervals
  } catch (error) {
    throw new InvalidConfig(`${of}: intervals: ${(error as InvalidConfig).message}`, { cause: error })
  }
}

function faultsOf(
  of: string,
  given: FaultChoice = {},
  served: boolean,
): Pick<Bench, 'families' | 'swarm' | 'density'> {
  requireObject(`${of}: faults`, given, InvalidConfig)
  const { families = fittingFamilies(served), density = 1, swarm = true } = given
  if (!Array.isArray(families))
    throw new InvalidConfig(`${of}: faults.families must be a list, not ${shown(families)}`)
  for (const family of families as readonly unknown[]) {
    const known = typeof family === 'string' ? familyNamed(family) : undefined
    if (!known)
      throw new InvalidConfig(
        `${of}: faults.families: there is no ${shown(family)}; there are ${fittingFamilies(true).join(', ')}, and a few more in docs/guarantees.md`,
      )
    if (!served && known.name.startsWith('service-'))
      throw new InvalidConfig(`${of}: faults.families: ${known.name} needs services, and the bench has none`)
  }
  if (!(typeof density === 'number' && density > 0 && density <= 100))
    throw new InvalidConfig(
      `${of}: faults.density must be a number over 0 and up to 100, not ${shown(density)}`,
    )
  if (typeof swarm !== 'boolean')
    throw new InvalidConfig(`${of}: faults.swarm must be true or false, not ${shown(swarm)}`)
  return { families, density, swarm }
}
