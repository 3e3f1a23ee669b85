import { shown } from '../engine/given.ts'
import { standardProperties } from '../properties/index.ts'
import type { Property } from '../properties/property.ts'
import type { Service } from './services/service.ts'

/** What is wrong with a user's own properties and services, after the name of the scenario; null for nothing. */

const kinds: readonly unknown[] = ['always', 'eventually', 'sometimes'] satisfies Property['kind'][]
const promises: ReadonlySet<string> = new Set(standardProperties.map(({ name }) => name))

export function problemOfProperties(properties: unknown): string | null {
  if (!Array.isArray(properties)) return `properties must be a list, not ${shown(properties)}`
  const names = new Set<string>()
  for (const [k, given] of properties.entries()) {
    const problem = problemOfProperty(given)
    if (problem !== null) return `properties: number ${k} ${problem}`
    const { name } = given as Property
    if (promises.has(name)) return `properties: '${name}' is the name of a promise of the engine`
    if (names.has(name)) return `properties has two named '${name}'`
    names.add(name)
  }
  return null
}

function problemOfProperty(given: unknown): string | null {
  if (typeof given !== 'object' || given === null) return `must be made by property(...), not ${shown(given)}`
  const { name, kind, says, blindSpot, on, suspendedBy, start, step } = given as Record<string, unknown>
  if (typeof name !== 'string' || !/^[\w-]{1,100}$/.test(name))
    return `must have a name of letters, digits, - and _, not ${shown(name)}`
  if (!kinds.includes(kind)) return `('${name}'): kind must be one of ${kinds.join(', ')}, not ${shown(kind)}`
  for (const [key, text] of Object.entries({ says, blindSpot }))
    if (typeof text !== 'string') return `('${name}'): ${key} must be a sentence, not ${shown(text)}`
  for (const [key, list] of Object.entries({ on, suspendedBy }))
    if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
      return `('${name}'): ${key} must be a list of texts, not ${shown(list)}`
  if ((on as unknown[]).length === 0) return `('${name}'): on must name the events that it looks at`
  for (const [key, call] of Object.entries({ start, step }))
    if (typeof call !== 'function') return `('${name}'): ${key} must be a function, not ${shown(call)}`
  return null
}

export function problemOfServices(services: unknown): string | null {
  if (!Array.isArray(services)) return `services must be a list, not ${shown(services)}`
  const names = new Set<string>()
  for (const [k, given] of services.entries()) {
    const { name, state, calls } = (given ?? {}) as Partial<Record<keyof Service, unknown>>
    const made = typeof name === 'string' && typeof state === 'function' && typeof calls === 'object'
    if (!made) return `services: number ${k} must be made by service(...), not ${shown(given)}`
    if (names.has(name)) return `services has two named '${name}'`
    names.add(name)
  }
  return null
}
