import { InvalidArgument } from '../../engine/errors.ts'

/** A client of the store's own in a handler's hands, for as long as a transaction lasts. */
export interface Lent<Client> {
  readonly client: Client
  readonly takeBack: () => void
}

/** What would end the connection, or hand it to somebody else, is the store's. */
const ours: ReadonlySet<PropertyKey> = new Set(['release', 'end', 'connect'])

/** The client itself, so that what is built upon `pg` finds all that it looks for; afterwards it does nothing more. */
export function lend<Client extends object>(client: Client): Lent<Client> {
  let over = false
  const refuse = (message: string) => (): Promise<never> => Promise.reject(new InvalidArgument(message))
  const lent = new Proxy(client, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (ours.has(key)) return refuse(`${String(key)}() of this client is the store's`)
      if (over && key === 'query') return refuse('the transaction of this client has ended')
      return (...args: unknown[]): unknown => Reflect.apply(value, target, args)
    },
  })
  return { client: lent, takeBack: () => void (over = true) }
}
