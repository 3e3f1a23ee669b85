import { placeFor } from '../sim/catalogue.ts'
import type { StoreFor } from '../sim/threads/pool.ts'

export interface StoreOptions {
  readonly store: string
  readonly databaseUrl?: string
}

/** Runs `work` with a store for each thread, and leaves nothing of them behind. Throws `InvalidArgument`. */
export async function withStore<R>(
  { store: name, databaseUrl = process.env['DATABASE_URL'] }: StoreOptions,
  work: (store: StoreFor) => Promise<R>,
): Promise<R> {
  const place = await placeFor(name, databaseUrl, `${process.pid}_${Date.now().toString(36)}`)
  try {
    return await work((thread) => ({ name, ground: place.groundOf(thread) }))
  } finally {
    await place.drop()
  }
}
