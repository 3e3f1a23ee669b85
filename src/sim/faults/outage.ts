import { type Family, type FamilyName, type FaultPlace } from './fault.ts'

/** The database cannot be reached for a while, shorter or longer than the leases that are held. */
function outage(
  name: FamilyName & `outage-${string}`,
  says: string,
  lasts: (place: FaultPlace, draw: (bound: number) => number) => number,
): Family {
  return {
    name,
    says,
    most: 2,
    draw: (place, draw) => ({
      atMs: draw(place.forMs, 'at'),
      forMs: lasts(place, (bound) => draw(bound, 'for')),
      how: draw(2, 'how') === 0 ? 'reset' : 'silent',
      lands: draw(2, 'lands') === 1,
    }),
    strike: (world, fault) => world.database.goDown(fault),
  }
}

export const outageShort: Family = outage(
  'outage-short',
  'the database is away for less than a lease',
  ({ leaseTtlMs }, draw) => 5_000 + draw(Math.max(1, leaseTtlMs - 10_000)),
)

export const outageLong: Family = outage(
  'outage-long',
  'the database is away for longer than a lease',
  ({ leaseTtlMs }, draw) => leaseTtlMs + 1_000 + draw(3 * leaseTtlMs),
)
