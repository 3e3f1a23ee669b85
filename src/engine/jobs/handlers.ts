import { InvalidConfig } from '../errors.ts'
import { type AnyJob, type JobDescription, isHandled } from './definition.ts'

/** Definitions that come with a handler, by name. Throws `InvalidConfig` where two share a name. */
export function handlersOf(jobs: readonly JobDescription[]): Map<string, AnyJob> {
  const names = new Set<string>()
  const handlers = new Map<string, AnyJob>()
  for (const job of jobs) {
    if (names.has(job.name))
      throw new InvalidConfig(`two definitions are named ${job.name}; a name is one job`)
    names.add(job.name)
    if (isHandled(job)) handlers.set(job.name, job)
  }
  return handlers
}
