import { InvalidArgument, InvalidConfig } from '../../engine/errors.ts'
import { requireObject, requireWhole, shown } from '../../engine/given.ts'
import { isHandled, requireDefinition } from '../../engine/jobs/definition.ts'
import { requireName } from '../../engine/jobs/text.ts'
import { intervalsOf } from '../../engine/settings.ts'
import { standardProperties } from '../../properties/index.ts'
import type { Property } from '../../properties/property.ts'
import { afterUnknown } from '../../stores/policy.ts'
import { problemOfProperties } from '../own.ts'
import type { ExploredFamily, Order, Topology } from './topology.ts'

/**
 * Looks at a topology that a user gives before anything runs. Refuses what has no meaning, and what the identity of
 * states does not know. Throws `InvalidArgument` naming the field.
 */
export function requireTopology(given: unknown): asserts given is Topology {
  requireObject('a topology', given, InvalidArgument)
  const topology = given as Topology
  requireName('a topology: name', topology.name, InvalidArgument)
  const of = `topology ${topology.name}`
  const whole = (what: string, value: unknown, min: number, max: number): number =>
    requireWhole(`${of}: ${what}`, value, { min, max }, InvalidArgument)
  const { says, workers, sweepers, concurrency, horizonMs, deviations } = topology
  if (typeof says !== 'string') refuse(of, `says must be a text, not ${shown(says)}`)
  whole('workers', workers, 1, machinesMax)
  whole('sweepers', sweepers, 0, machinesMax)
  whole('concurrency', concurrency, 1, concurrencyMax)
  whole('horizonMs', horizonMs, 1, horizonMsMax)
  whole('deviations', deviations, 0, deviationsMax)
  try {
    intervalsOf(topology.intervals)
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error
    throw new InvalidArgument(`${of}: intervals: ${error.message}`, { cause: error })
  }
  if ((topology as { readonly duties?: unknown }).duties !== undefined)
    refuse(of, 'duties cannot be given: how far they are cannot be seen')
  requireJobs(of, topology)
  requireWork(of, topology)
  requireOrders(of, topology)
  requireFaults(of, topology)
  requireProperties(of, topology.properties)
}

const machinesMax = 10
const concurrencyMax = 100
const horizonMsMax = 3_600_000
const deviationsMax = 10

function refuse(of: string, problem: string): never {
  throw new InvalidArgument(`${of}: ${problem}`)
}

/** A text that would be taken for the name that a process gives to itself or to a claim, one as good as another. */
function requirePlain(what: string, text: unknown): asserts text is string {
  requireName(what, text, InvalidArgument)
  if (!text.includes('~') && !/^\d+\.\d+\.\d+$/.test(text)) return
  throw new InvalidArgument(
    `${what} must have no '~' and not look like 1.2.3, which names processes: ${text}`,
  )
}

function requireList(of: string, what: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) refuse(of, `${what} must be a list, not ${shown(value)}`)
}

function requireJobs(of: string, { jobs }: Topology): void {
  requireList(of, 'jobs', jobs)
  for (const [k, job] of jobs.entries()) {
    requireDefinition(`${of}: jobs: number ${k} must be a definition`, job, InvalidArgument)
    requirePlain(`${of}: jobs: number ${k}: name`, job.name)
    requirePlain(`${of}: jobs: number ${k}: queue`, job.settings.queue)
  }
  if (new Set(jobs.map(({ name }) => name)).size < jobs.length) refuse(of, 'jobs has two of one name')
  if (!jobs.some(isHandled)) refuse(of, 'jobs has none with a handler: add them with .handle(run)')
}

function requireWork(of: string, { work, jobs, horizonMs }: Topology): void {
  requireList(of, 'work', work)
  if (work.length === 0) refuse(of, 'work has no job to enqueue')
  const ids = new Set<string>()
  for (const [k, step] of work.entries()) {
    const what = `${of}: work: number ${k}`
    requireObject(what, step, InvalidArgument)
    requireWhole(`${what}: atMs`, step.atMs, { min: 0, max: horizonMs }, InvalidArgument)
    if (!jobs.some(({ name }) => name === step.job?.name)) refuse(what, 'job must be one of jobs')
    requireObject(`${what}: options`, step.options, InvalidArgument)
    const { id } = step.options
    requirePlain(`${what}: options.id`, id)
    if (ids.has(id)) refuse(what, `there are two with the id ${shown(id)}`)
    ids.add(id)
    for (const key of ['again', 'also', 'undispatched'] as const)
      if (step[key] !== undefined) refuse(what, `${key} cannot be explored`)
  }
}

const ofJobs: readonly unknown[] = ['cancel', 'retry', 'replay', 'discard']
const commands: readonly unknown[] = [...ofJobs, 'hold', 'resume']

function requireOrder(what: string, order: unknown, topology: Topology): void {
  const { work } = topology
  requireObject(what, order, InvalidArgument)
  const { command, job, through } = order as Partial<Record<keyof Order, unknown>>
  if (!commands.includes(command))
    refuse(what, `command must be one of ${commands.join(', ')}, not ${shown(command)}`)
  const ofJob = ofJobs.includes(command)
  const root = typeof job === 'string' ? job.replace(/~r\d+$/, '') : job
  if (ofJob && !work.some(({ options: { id } }) => id === job || id === root))
    refuse(what, `job must be the id of one in work, not ${shown(job)}`)
  if (!ofJob && job !== undefined) refuse(what, `${String(command)} is of all claiming, and takes no job`)
  if (through !== undefined) requireSome(what, 'through', [through], machinesOf(topology))
}

function requireOrders(of: string, topology: Topology): void {
  const { orders = [], horizonMs } = topology
  requireList(of, 'orders', orders)
  for (const [k, order] of orders.entries()) {
    const what = `${of}: orders: number ${k}`
    requireOrder(what, order, topology)
    requireWhole(`${what}: atMs`, order.atMs, { min: 0, max: horizonMs }, InvalidArgument)
  }
}

/** Those that can be explored, and whether they last, or come later by a time that is given. */
const lasting: Readonly<Record<ExploredFamily, boolean>> = {
  'lost-request': false,
  'lost-reply': false,
  'late-request': true,
  'slow-reply': true,
  pause: true,
  crash: true,
  shutdown: true,
  'database-restart': true,
  'outage-long': true,
  operator: false,
}

function requireFaults(of: string, topology: Topology): void {
  const { faults, horizonMs } = topology
  requireList(of, 'faults', faults)
  const machines = machinesOf(topology)
  for (const [k, fault] of faults.entries()) {
    const what = `${of}: faults: number ${k}`
    requireObject(what, fault, InvalidArgument)
    const { family, forMs, lands, nodes, calls, order } = fault
    if (typeof family !== 'string' || !Object.hasOwn(lasting, family))
      refuse(what, `family must be one of ${Object.keys(lasting).join(', ')}, not ${shown(family)}`)
    const lasts = lasting[family]
    if (lasts) requireWhole(`${what}: forMs`, forMs, { min: 1, max: horizonMs }, InvalidArgument)
    if (!lasts && forMs !== undefined) refuse(what, `${family} does not last, and takes no forMs`)
    if (lands !== undefined && (family !== 'database-restart' || typeof lands !== 'boolean'))
      refuse(what, 'lands is true or false, and of a database-restart')
    requireSome(what, 'nodes', nodes, machines)
    requireSome(what, 'calls', calls, Object.keys(afterUnknown))
    if (family === 'operator') requireOrder(`${what}: order`, order, topology)
    else if (order !== undefined) refuse(what, `${family} takes no order`)
  }
}

function machinesOf({ workers, sweepers }: Topology): string[] {
  return Array.from({ length: workers + sweepers }, (_, k) => `w${k + 1}`)
}

function requireSome(what: string, field: string, given: unknown, known: readonly string[]): void {
  if (given === undefined) return
  requireList(what, field, given)
  if (given.length === 0) refuse(what, `${field} names none; leave it out for all`)
  for (const one of given)
    if (!known.includes(one as string))
      refuse(what, `${field}: there is no ${shown(one)}; there are ${known.join(', ')}`)
}

function requireProperties(of: string, properties: readonly Property[]): void {
  requireList(of, 'properties', properties)
  if (properties.length === 0) refuse(of, 'properties has none: nothing would be judged')
  const problem = problemOfProperties(properties.filter((property) => !standardProperties.includes(property)))
  if (problem !== null) refuse(of, problem)
  if (new Set(properties).size < properties.length) refuse(of, 'properties has one twice')
  const late = properties.find(({ kind }) => kind === 'eventually')
  if (late)
    refuse(
      of,
      `properties: ${late.name} says what comes in the end; exploring judges only what must never be`,
    )
}
