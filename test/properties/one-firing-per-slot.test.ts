import { describe, expect, test } from 'vitest'
import { slotNamed, slotTest, slotsBetween } from '../../src/properties/model/slots.ts'
import type { EventOf } from '../../src/engine/history.ts'
import { oneFiringPerSlot as property } from '../../src/properties/index.ts'
import { type Draft, ended, expectHolds, expectRefused, healed, jumped, said } from './dsl.ts'

const minuteMs = 60_000
const key = 'k'
type Place = { readonly at?: number }
type Fields = Place & Pick<EventOf<'schedule.fired'>, 'outcome' | 'jobs'>
const at = (min: number, draft: Draft): Draft => ({ ...draft, atMs: min * minuteMs, untimed: false })

/** Minutes since the start, which is the first of January 2026. */
function idOf(slotMin: number): string {
  return `k@${new Date(Date.UTC(2026, 0, 1, 0, slotMin)).toISOString()}`
}

const times = { cron: '*/10 * * * *', timeZone: 'UTC', everyMs: null, anchorMs: null }
const put = (nextMin: number | null, f: object = {}): Draft => {
  const nextMs = nextMin === null ? null : nextMin * minuteMs
  return said('schedule.put', { key, kind: 'put', ...times, catchUp: 'latest', nextMs, ...f })
}
const paused = (what: boolean, nextMin: number, f: object = {}): Draft =>
  said('schedule.paused', { key, paused: what, applied: true, nextMs: nextMin * minuteMs, ...f })
const fired = (slots: readonly number[], nextMin: number, f: Partial<Fields> = {}): Draft =>
  said('schedule.fired', {
    key,
    outcome: 'fired',
    slots: slots.map((min) => min * minuteMs),
    jobs: slots.map(idOf),
    nextMs: nextMin * minuteMs,
    ...f,
  })
const atMin = (min: number): Place => ({ at: min * minuteMs + 50 })

describe('one-firing-per-slot (contract 0.16, 17)', () => {
  test('accepts slot after slot, and tries that came to nothing', () => {
    expectHolds(property, [
      put(10, { at: 0 }),
      fired([10], 20, atMin(10)),
      fired([10], 20, { outcome: 'lost' }),
      fired([10], 20, { outcome: 'stands' }),
      put(20, { kind: 'same' }),
      fired([20], 30, atMin(20)),
      fired([30], 40, { outcome: 'early' }),
      paused(true, 30),
      fired([30], 40, { ...atMin(30), outcome: 'lost' }),
      paused(false, 50, atMin(45)),
      fired([50], 60, atMin(50)),
      said('schedule.removed', { key, removed: true }),
    ])
  })

  test('refuses a slot before its time, by the clock of the database', () => {
    const early = { at: 10 * minuteMs - 1 }
    expectRefused(property, [put(10, { at: 0 }), fired([10], 20, early)], 'early')
    const ahead = jumped(1, { at: 5 * minuteMs })
    expectHolds(property, [put(10, { at: 0 }), ahead, fired([10], 20, early)])
    const back = jumped(-1_000, { at: 5 * minuteMs })
    expectRefused(property, [put(10, { at: 0 }), back, fired([10], 20, atMin(10))], 'early')
  })

  test('refuses a slot that is fired again, also where the clock was set back', () => {
    const first = [put(10, { at: 0 }), fired([10], 20, atMin(10))]
    expectRefused(property, [...first, fired([10], 20)], 'fired-twice')
    const back = [...first, paused(true, 20), jumped(-10 * minuteMs), paused(false, 10)]
    expectRefused(property, [...back, fired([10], 20, atMin(25))], 'fired-twice')
  })

  test('refuses what is no slot, in the zone of the schedule, or goes on with none', () => {
    const elsewhere = { cron: '0 * * * *', timeZone: 'Asia/Kolkata', at: 0 }
    expectHolds(property, [put(30, elsewhere), fired([30], 90, atMin(30))])
    expectRefused(property, [put(60, elsewhere)], 'passed-over')
    expectRefused(property, [put(10, { at: 0 }), fired([10], 15, atMin(10))], 'no-slot')
    expectRefused(property, [put(10, { at: 0 }), fired([9], 20, atMin(10))], 'no-slot')
    expectRefused(property, [put(5, { at: 0 })], 'no-slot')
  })

  test('refuses a job whose id is not that of its slot, and a firing without one', () => {
    const named = { ...atMin(10), jobs: [idOf(11)] }
    expectRefused(property, [put(10, { at: 0 }), fired([10], 20, named)], 'other-id')
    expectRefused(property, [put(10, { at: 0 }), fired([10], 20, { ...atMin(10), jobs: [] })], 'other-id')
    expectRefused(property, [put(10, { at: 0 }), fired([], 20, atMin(10))], 'missed')
  })

  test('refuses a firing while it is paused, removed or was never there', () => {
    expectRefused(
      property,
      [put(10, { at: 0 }), paused(true, 10), fired([10], 20, atMin(10))],
      'fired-while-off',
    )
    expectRefused(property, [fired([10], 20, atMin(10))], 'fired-while-off')
    const gone = [put(10, { at: 0 }), said('schedule.removed', { key, removed: true })]
    expectRefused(property, [...gone, fired([10], 20, atMin(10))], 'fired-while-off')
  })

  test.each([
    ['skip', [], [40]],
    ['latest', [40], []],
    ['latest', [40], [30, 40]],
    [3, [20, 30, 40], [40]],
    [3, [20, 30, 40], [10, 20, 30, 40]],
    [9, [10, 20, 30, 40], [20, 30, 40]],
  ] as const)('after a stop under %j it accepts %j and refuses %j', (catchUp, right, wrong) => {
    const before = put(10, { catchUp, at: 0 })
    expectHolds(property, [before, fired(right, 50, atMin(45))])
    const kind = wrong.length < right.length ? 'missed' : 'made-up'
    expectRefused(property, [before, fired(wrong, 50, atMin(45))], kind)
  })

  test('refuses that a slot in time is skipped, and accepts that one that is late is', () => {
    const before = put(10, { catchUp: 'skip', at: 0 })
    expectHolds(property, [before, fired([10], 20, atMin(10))])
    expectRefused(property, [before, fired([], 20, atMin(10))], 'missed')
    expectHolds(property, [before, fired([], 20, atMin(12))])
  })

  test('refuses that slots to come are passed over', () => {
    expectRefused(property, [put(20, { at: 0 })], 'passed-over')
    expectRefused(property, [put(10, { at: 0 }), fired([10], 30, atMin(10))], 'passed-over')
    const off = [put(10, { at: 0 }), paused(true, 10)]
    expectRefused(property, [...off, paused(false, 30, atMin(15))], 'passed-over')
  })

  test('refuses that a pause is made up for', () => {
    const off = [put(10, { at: 0 }), paused(true, 10, { at: 100 })]
    expectRefused(property, [...off, paused(false, 10, atMin(30))], 'made-up')
    expectHolds(property, [...off, paused(false, 40, atMin(30))])
  })

  test('refuses that a schedule is left behind in the end', () => {
    const run = (endMin: number): Draft[] => [put(10, { at: 0 }), at(11, healed()), at(endMin, ended())]
    expectHolds(property, run(12))
    expectRefused(property, run(13), 'left-behind')
    const off = [put(10, { at: 0 }), paused(true, 10), at(1, healed()), at(90, ended())]
    expectHolds(property, off)
  })
})

describe('slots, reckoned anew', () => {
  test('of an interval, and of minutes and hours in zones that never change', () => {
    const every = { cron: null, timeZone: null, everyMs: 7_000, anchorMs: 500 }
    expect(slotsBetween(every, 0, 15_000)).toEqual([500, 7_500, 14_500])
    const tokyo = { ...times, cron: '30 8,9 * * *', timeZone: 'Asia/Tokyo' }
    // 08:30 and 09:30 there are 23:30 the day before, and 00:30.
    const found = slotsBetween(tokyo, 0, 24 * 60 * minuteMs)
    expect(found).toEqual([30 * minuteMs, (23 * 60 + 30) * minuteMs])
  })

  test('says nothing of what it does not know', () => {
    for (const cron of ['0 0 1 * *', '0-5 * * * *', '* * * * 1'])
      expect(slotTest({ ...times, cron })).toBeNull()
    expect(slotTest({ ...times, timeZone: 'Europe/Berlin' })).toBeNull()
  })

  test('are read from ids, whatever the month', () => {
    for (const text of ['2026-01-01T00:00:00.000Z', '2028-02-29T23:59:59.999Z', '2026-12-31T12:00:00.001Z']) {
      expect(slotNamed('a@b', `a@b@${text}`)).toBe(Date.parse(text) - Date.UTC(2026, 0, 1))
    }
    expect(slotNamed('a', 'a@2026')).toBeNull()
    expect(slotNamed('a', 'b@2026-01-01T00:00:00.000Z')).toBeNull()
  })
})
