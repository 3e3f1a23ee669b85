import { type Family, type ServiceFamily, pick } from './fault.ts'

/**
 * The faults of messages and of outages, on the way to a user's own services. They are families of their own,
 * because they say nothing of the store: no promise of the engine is suspended by them.
 */
function message(name: ServiceFamily, says: string, lateMsMax = 0, most = 12): Family {
  return {
    name,
    says,
    most,
    draw: ({ nodes, services, forMs }, draw) => ({
      atMs: draw(forMs, 'at'),
      node: pick(nodes, draw, 'node'),
      call: pick(services, draw, 'call'),
      how: draw(2, 'how') === 0 ? 'reset' : 'silent',
      ...(lateMsMax > 0 && { lateMs: 200 + draw(lateMsMax, 'late') }),
    }),
    strike: (world, fault) => void world.nodeNamed(fault.node)?.armed.push(fault),
  }
}

const serviceOf = (call: string): string => call.slice(0, call.indexOf('.'))

const refused: Family = {
  name: 'service-refused',
  says: 'a machine is refused every connection to a service for a while',
  most: 3,
  draw: ({ nodes, services, forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    node: pick(nodes, draw, 'node'),
    service: serviceOf(pick(services, draw, 'call')),
    forMs: 100 + draw(leaseTtlMs, 'for'),
  }),
  strike: (world, fault) => {
    const { node = '', service = '', forMs = 0 } = fault
    const { refused: all } = world.services
    const key = `${node} ${service}`
    world.struck(fault, world.nodeNamed(node)?.process ?? null, service, forMs)
    all.set(key, fault)
    world.later(forMs, 'service-accepted', () => {
      if (all.get(key) === fault) all.delete(key)
    })
  },
}

const outage: Family = {
  name: 'service-outage',
  says: 'a service is down for a while, for everybody',
  most: 2,
  draw: ({ services, forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    service: serviceOf(pick(services, draw, 'call')),
    forMs: 1_000 + draw(3 * leaseTtlMs, 'for'),
    how: draw(2, 'how') === 0 ? 'reset' : 'silent',
  }),
  strike: (world, fault) => {
    const { service = '', forMs = 0 } = fault
    const { down } = world.services
    if (down.has(service)) return
    world.struck(fault, null, service, forMs)
    down.set(service, fault)
    world.later(forMs, 'service-up', () => {
      if (down.get(service) === fault) down.delete(service)
    })
  },
}

const sleeper: Family = message('service-pause', '', 0, 4)

export const serviceFamilies: readonly Family[] = [
  message('service-lost-request', 'a call never reaches its service'),
  message('service-lost-reply', 'a service does what it was asked, its answer is lost'),
  message('service-late-request', 'a call reaches its service when its caller has long given it up', 40_000),
  message('service-slow-reply', 'an answer of a service takes seconds: sometimes too many', 15_000, 8),
  message('service-busy', 'a service answers that it is too busy, and does nothing'),
  refused,
  outage,
  {
    ...sleeper,
    says: 'a worker process falls asleep over a call of a service, whose answer is lost, or old when it is read',
    draw: (place, draw) => ({
      ...sleeper.draw(place, draw),
      forMs: 500 + draw(3 * place.leaseTtlMs, 'for'),
    }),
  },
]
