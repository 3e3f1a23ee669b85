import type { Family } from './fault.ts'

const minuteMs = 60_000

/** The clock of the database is set, forward or back, by less than a second or by minutes. */
export const clockJump: Family = {
  name: 'clock-jump',
  says: 'the clock of the database jumps, forward or back',
  most: 3,
  draw: ({ forMs }, draw) => {
    const byMs = 1 + draw([2_000, minuteMs, 10 * minuteMs][draw(3, 'size')] as number, 'by')
    return { atMs: draw(forMs, 'at'), byMs: draw(2, 'back') === 0 ? byMs : -byMs }
  },
  strike: (world, fault) => {
    world.struck(fault, null)
    world.database.jump(fault.byMs ?? 0)
  },
}
