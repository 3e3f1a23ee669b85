import type { EngineOptions } from './api.ts'
import { InvalidConfig } from './errors.ts'
import { type Names, requireFunction, requireKnown, requireObject, requireWhole, shown } from './given.ts'
import { requireDefinition } from './jobs/definition.ts'
import { requireName } from './jobs/text.ts'

/** The shape of what `createEngine` is given. Throws `InvalidConfig` naming the first option that is wrong. */
const engineOptions: Names<EngineOptions> = {
  store: true,
  jobs: true,
  queues: true,
  name: true,
  only: true,
  intervals: true,
  schedules: true,
  retention: true,
  observer: true,
  middleware: true,
  codec: true,
  clock: true,
  random: true,
  executor: true,
}

export function requireOptions(options: EngineOptions): void {
  requireObject("createEngine's options", options, InvalidConfig)
  requireKnown("createEngine's options", options, engineOptions, InvalidConfig)
  const { store, jobs = [], queues = {}, middleware = [] } = options
  const ports: unknown = store
  if (!hasMethod(ports, 'migrate') || !hasMethod((ports as { jobs?: unknown }).jobs, 'insert')) {
    throw new InvalidConfig(`store must be a store, such as memoryStore() makes, not ${shown(store)}`)
  }
  if (!Array.isArray(jobs)) throw new InvalidConfig(`jobs must be a list of definitions, not ${shown(jobs)}`)
  for (const job of jobs) requireDefinition('jobs takes definitions', job, InvalidConfig)
  requireQueues(queues)
  if (options.observer !== undefined && !hasMethod(options.observer, 'event')) {
    throw new InvalidConfig(`observer must have a method event, not be ${shown(options.observer)}`)
  }
  const { codec, schedules } = options
  if (schedules !== undefined && typeof schedules !== 'boolean') {
    throw new InvalidConfig(`schedules must be true or false, not ${shown(schedules)}`)
  }
  if (codec !== undefined && !(hasMethod(codec, 'encode') && hasMethod(codec, 'decode'))) {
    throw new InvalidConfig(`codec must have methods encode and decode, not be ${shown(codec)}`)
  }
  if (!Array.isArray(middleware)) {
    throw new InvalidConfig(`middleware must be a list of functions, not ${shown(middleware)}`)
  }
  for (const layer of middleware)
    requireFunction('middleware must be a list of functions: each', layer, InvalidConfig)
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function'
}

function requireQueues(queues: Readonly<Record<string, { readonly concurrency: number }>>): void {
  requireObject('queues', queues, InvalidConfig)
  for (const [name, queue] of Object.entries(queues)) {
    requireName('a queue name', name, InvalidConfig)
    requireObject(`queue ${name}`, queue, InvalidConfig)
    const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER }
    requireWhole(`queue ${name}: concurrency`, queue.concurrency, bounds, InvalidConfig)
  }
}
