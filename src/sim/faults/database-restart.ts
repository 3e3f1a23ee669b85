import type { Family } from './fault.ts'

/** The server goes away for a moment; work in flight lands or does not, and every open call is cut. */
export const databaseRestart: Family = {
  name: 'database-restart',
  says: 'the database restarts, with work in flight',
  most: 4,
  draw: ({ forMs }, draw) => ({
    atMs: draw(forMs, 'at'),
    forMs: 100 + draw(4_000, 'for'),
    lands: draw(2, 'lands') === 1,
    how: 'reset',
  }),
  strike: (world, fault) => world.database.goDown(fault),
}
