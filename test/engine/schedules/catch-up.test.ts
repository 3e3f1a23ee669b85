import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CatchUp, turnOf } from '../../../src/engine/schedules/catch-up.ts'
import { cronSlots } from '../../../src/engine/schedules/cron.ts'
import { type Slots, intervalSlots, lastSlots } from '../../../src/engine/schedules/slots.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const startMs = Date.parse('2026-01-01T00:00Z')
const everyMinute = cronSlots('* * * * *', 'UTC')

/** How often it was asked. */
function counted(slots: Slots): { readonly slots: Slots; calls: number } {
  const count = {
    calls: 0,
    slots: {
      next: (afterMs: number) => {
        count.calls += 1
        return slots.next(afterMs)
      },
    },
  }
  return count
}

describe('after a stop of every-minute work (E21)', () => {
  const policies = [
    ['skip', 0],
    ['latest', 1],
    [{ all: 10 }, 10],
    [{ all: 1_000 }, 101],
  ] as const

  it.each(policies)('of 101 minutes, %j makes up for %s', (catchUp, made) => {
    const nowMs = startMs + 101 * minuteMs
    const { slots, nextAtMs } = turnOf(everyMinute, catchUp, startMs + minuteMs, nowMs)
    expect(slots).toHaveLength(made)
    expect(nextAtMs).toBe(nowMs + minuteMs)
    const latest = Array.from({ length: made }, (_, k) => nowMs - (made - 1 - k) * minuteMs)
    expect(slots).toEqual(latest)
  })

  it.each(policies)('of 30 days, %j takes no look at each of its 43,200 slots', (catchUp) => {
    const nowMs = startMs + 30 * dayMs + 17_000
    const { slots, ...count } = counted(everyMinute)
    const made = turnOf(slots, catchUp, startMs + minuteMs, nowMs).slots.length
    expect(made).toBe(catchUp === 'skip' ? 0 : catchUp === 'latest' ? 1 : catchUp.all)
    expect(count.calls).toBeLessThan(60 + 40 * made)
  })

  it('fires what is due on time whatever the policy, and what is late unless it is to be skipped', () => {
    const due = startMs + minuteMs
    const policies: readonly CatchUp[] = ['skip', 'latest', { all: 5 }]
    for (const catchUp of policies)
      expect(turnOf(everyMinute, catchUp, due, due + 59_999).slots).toEqual([due])
    const daily = cronSlots('0 0 * * *', 'UTC')
    for (const lateMs of [60_000, 60_001]) {
      const { slots, nextAtMs } = turnOf(daily, 'skip', startMs, startMs + lateMs)
      expect(slots).toEqual(lateMs > 60_000 ? [] : [startMs])
      expect(nextAtMs).toBe(startMs + dayMs)
    }
  })
})

describe('the last slots up to an instant', () => {
  const kinds: readonly Slots[] = [
    everyMinute,
    intervalSlots(7_000, startMs + 123),
    cronSlots('*/7 0-2 1,15 * *', 'Europe/Berlin'),
    cronSlots('30 2 * * *', 'Europe/Berlin'),
  ]

  it('are those that a walk from the first one finds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.integer({ min: 0, max: 40 * dayMs }),
        fc.integer({ min: 0, max: dayMs }),
        fc.integer({ min: 1, max: 5 }),
        (slots, fromMs, forMs, count) => {
          const firstMs = slots.next(startMs + fromMs) as number
          const untilMs = firstMs + forMs
          const all: number[] = []
          for (let slot: number | null = firstMs; slot !== null && slot <= untilMs; slot = slots.next(slot))
            all.push(slot)
          expect(lastSlots(slots, firstMs, untilMs, count)).toEqual(all.slice(-count))
        },
      ),
      { numRuns: 150 },
    )
  })
})
