import { isSame } from './model/who.ts'
import { type Property, property } from './property.ts'

/**
 * Why: several services and several releases share one store. A worker that takes a job for which it has no
 * handler, or of a queue that it does not serve, burns its attempts and keeps it from those who can. (Contract
 * 0.7, 2.5, 2.13.)
 *
 * Blind spot: whether the handler of that name is the right one.
 */
interface Ability {
  readonly node: string
  readonly incarnation: number
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
}

interface State {
  readonly jobs: Map<string, { readonly queue: string; readonly kind: string }>
  readonly abilities: Map<string, Ability>
}

export const ownWorkOnly: Property = property({
  name: 'own-work-only',
  kind: 'always',
  says: 'A worker claims only jobs of queues that it serves, and of kinds that it has handlers for.',
  blindSpot: 'Whether the handler of a name is the right one is not asked.',
  on: ['node.started', 'job.inserted', 'job.claimed'],
  suspendedBy: [],
  start: (): State => ({ jobs: new Map(), abilities: new Map() }),
  step({ jobs, abilities }, event, verdict) {
    switch (event.type) {
      case 'node.started': {
        const { node, incarnation, queues, kinds } = event
        return void abilities.set(node, { node, incarnation, queues: Object.keys(queues), kinds })
      }
      case 'job.inserted':
        if (!jobs.has(event.job)) jobs.set(event.job, { queue: event.queue, kind: event.kind })
        return
      case 'job.claimed': {
        const ability = abilities.get(event.node)
        const job = jobs.get(event.job)
        if (!ability || !job || !isSame(ability, event)) return
        verdict.evaluated()
        const { node: subject } = event
        if (!ability.queues.includes(job.queue)) {
          const message = `${subject} claimed job ${event.job} of queue ${job.queue}, which it does not serve`
          return verdict.violated({ kind: 'foreign-queue', subject: event.job, message })
        }
        if (ability.kinds.includes(job.kind)) return
        const message = `${subject} claimed job ${event.job} of kind ${job.kind}, for which it has no handler`
        return verdict.violated({ kind: 'foreign-kind', subject: event.job, message })
      }
    }
  },
})
