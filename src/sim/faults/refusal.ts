import type { Family } from './fault.ts'

/** The server fails over to a standby, which cuts what is open, answers reads, and refuses writes (SQLSTATE 25006). */
export const readOnly: Family = {
  name: 'read-only',
  says: 'the database fails over to a standby that answers reads and refuses writes for a while',
  most: 3,
  draw: ({ forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    forMs: 1_000 + draw(draw(2, 'long') === 0 ? 2 * leaseTtlMs : 12_000, 'for'),
    lands: draw(2, 'lands') === 1,
    how: 'read-only',
  }),
  strike: (world, fault) => world.database.goDown(fault),
}

/** No room for new rows (SQLSTATE 53100): what only changes rows succeeds. */
export const diskFull: Family = {
  name: 'disk-full',
  says: 'the disk of the database is full for a while: new rows are refused, other writes succeed',
  most: 3,
  draw: ({ forMs, leaseTtlMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    forMs: 1_000 + draw(draw(2, 'long') === 0 ? 2 * leaseTtlMs : 12_000, 'for'),
  }),
  strike: (world, fault) => world.database.fill(fault),
}
