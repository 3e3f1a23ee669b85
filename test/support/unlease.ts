import type { InspectableStore } from '../../src/engine/ports/store.ts'

/** Removes the lease rows of a claim behind the store's back, through what a snapshot of it holds. */
export async function unlease(store: InspectableStore, token: string): Promise<void> {
  const snapshot = await store.snapshot()
  if (snapshot.store === 'memory') {
    ;(snapshot.content as { readonly leases: Map<string, unknown> }).leases.delete(token)
    return store.restore(snapshot)
  }
  const tables = snapshot.content as readonly {
    readonly table: string
    readonly rows: readonly unknown[][]
  }[]
  const claims = tables.find(({ table }) => table === 'holdfast_claim')?.rows ?? []
  const claim = claims.find((row) => row[1] === token)?.[0]
  const content = tables.map(({ table, rows }) => {
    return { table, rows: table === 'holdfast_lease' ? rows.filter((row) => row[0] !== claim) : rows }
  })
  return store.restore({ ...snapshot, content })
}
