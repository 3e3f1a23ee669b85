import { execFileSync } from 'node:child_process'
import { Cron } from 'croner'
import { describe, expect, it } from 'vitest'
import { cronSlots } from '../../../src/engine/schedules/cron.ts'
import { storedTrigger } from '../../../src/engine/schedules/trigger.ts'

const at = (text: string): number => Date.parse(text)
const iso = (atMs: number): string => new Date(atMs).toISOString().replace(/:00\.000Z$/, 'Z')

/** All slots in (from, to], as text. */
function slots(cron: string, timeZone: string, from: string, to: string): string[] {
  const { next } = cronSlots(cron, timeZone)
  const found: string[] = []
  for (let slot = next(at(from)); slot !== null && slot <= at(to); slot = next(slot)) found.push(iso(slot))
  return found
}

function longestGapMin(found: readonly string[]): number {
  const gaps = found.slice(1).map((slot, k) => at(slot) - at(found[k] as string))
  return Math.max(...gaps) / 60_000
}

describe('a time of the day, where the clock changes (E19)', () => {
  it('is fired once when it is skipped, at the first instant after the gap', () => {
    expect(slots('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', '2026-03-30T12:00Z')).toEqual([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ])
    expect(slots('30 2 * * *', 'America/New_York', '2026-03-07T12:00Z', '2026-03-09T12:00Z')).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ])
    // Half an hour is skipped here: 02:00 is 02:30.
    expect(slots('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', '2026-10-05T00:00Z')).toEqual([
      '2026-10-03T15:30Z',
      '2026-10-04T15:15Z',
    ])
  })

  it('is fired once when it comes twice, the first time', () => {
    expect(slots('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', '2026-10-26T12:00Z')).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ])
    expect(slots('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', '2026-11-02T12:00Z')).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ])
    expect(slots('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00Z', '2026-04-06T12:00Z')).toEqual([
      '2026-04-04T14:45Z',
      '2026-04-05T15:15Z',
    ])
  })

  it('is each its own in a list or a range; several that fall into one gap are one', () => {
    expect(slots('0,30 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', '2026-03-29T12:00Z')).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-29T01:30Z',
    ])
    expect(slots('0 1-3 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', '2026-10-25T12:00Z')).toEqual([
      '2026-10-24T23:00Z',
      '2026-10-25T00:00Z',
      '2026-10-25T02:00Z',
    ])
  })

  it('is the day it names, whatever the offset of the zone', () => {
    expect(slots('0 0 * * *', 'Asia/Kolkata', '2026-01-01T00:00Z', '2026-01-02T00:00Z')).toEqual([
      '2026-01-01T18:30Z',
    ])
  })
})

describe('a rhythm, where the clock changes (E19)', () => {
  const days = [
    ['Europe/Berlin', '2026-03-28T22:59Z', '2026-03-29T21:59Z', 92],
    ['Europe/Berlin', '2026-10-24T21:59Z', '2026-10-25T22:59Z', 100],
    ['America/New_York', '2026-03-08T04:59Z', '2026-03-09T03:59Z', 92],
    ['America/New_York', '2026-11-01T03:59Z', '2026-11-02T04:59Z', 100],
    ['Australia/Lord_Howe', '2026-10-03T13:29Z', '2026-10-04T12:59Z', 94],
    ['Australia/Lord_Howe', '2026-04-04T12:59Z', '2026-04-05T13:29Z', 98],
    ['UTC', '2026-03-28T23:59Z', '2026-03-29T23:59Z', 96],
  ] as const

  it.each(days)('goes on every quarter of an hour in %s from %s to %s: %s times', (zone, from, to, times) => {
    const found = slots('*/15 * * * *', zone, from, to)
    expect(found).toHaveLength(times)
    expect(longestGapMin(found)).toBe(15)
  })

  it('is fired twice in a repeated hour, and not in a skipped one', () => {
    expect(slots('*/30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', '2026-10-25T12:00Z')).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T00:30Z',
      '2026-10-25T01:00Z',
      '2026-10-25T01:30Z',
    ])
    expect(slots('*/30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', '2026-03-29T12:00Z')).toEqual([])
  })
})

describe('the calendar', () => {
  it('has a 29th of February every four years, and no 30th', () => {
    expect(slots('0 0 29 2 *', 'UTC', '2026-11-30T00:00Z', '2032-12-31T00:00Z')).toEqual([
      '2028-02-29T00:00Z',
      '2032-02-29T00:00Z',
    ])
  })

  it.each(['0 0 30 2 *', '0 0 31 4 *', '0 0 31 2,4,6 *', '0 0 31 11 +MON#1'])(
    'never has %s, which is refused at once (E21)',
    (cron) => {
      const code = 'SCHEDULE_INVALID'
      for (const timeZone of ['UTC', 'Europe/Berlin']) {
        const refused = (): unknown => storedTrigger({ cron, timeZone }, at('2026-11-30T00:00Z'))
        expect(refused).toThrow(expect.objectContaining({ code }) as Error)
      }
    },
  )

  it.each([
    ['* * * *', 'UTC'],
    ['* * * * * *', 'UTC'],
    ['61 * * * *', 'UTC'],
    ['5/5 * * * *', 'UTC'],
    ['@reboot', 'UTC'],
    ['', 'UTC'],
    ['* * * * *', 'Mars/Olympus'],
    ['* * * * *', ''],
    [7 as unknown as string, 'UTC'],
  ])('has no %s in %s', (cron, timeZone) => {
    const refused = (): unknown => storedTrigger({ cron, timeZone }, 0)
    expect(refused).toThrow(expect.objectContaining({ code: 'SCHEDULE_INVALID' }) as Error)
  })
})

describe('beside the library that reads the expressions', () => {
  const crons = [
    '30 2 * * *',
    '*/15 * * * *',
    '0 2-3 * * *',
    '15 */2 * * *',
    '*/7 1-3 * * *',
    '30 1,2 25-29 3,10 *',
  ]
  const more = ['0 0 * * *', '*/10 2 * * SUN', '30 0 * * 0#2', '15 3 L * *', '59 1 * * *', '* * * * *']
  const zones = [
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'America/St_Johns',
    'Africa/Casablanca',
    'America/Havana',
  ]
  const from = ['2026-03-28T12:00:30Z', '2026-10-24T20:00:00.500Z', '2026-10-03T10:00Z', '2026-03-07T22:00Z']

  it.each(zones)('says the same as its own scheduler in %s, around the changes of the clock', (timezone) => {
    for (const cron of [...crons, ...more]) {
      const ours = cronSlots(cron, timezone)
      const theirs = new Cron(cron, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' })
      for (const start of from) {
        let atMs: number | null = at(start)
        for (let k = 0; k < 40 && atMs !== null; k++) {
          const next: number | null = ours.next(atMs)
          expect(next, `${cron} after ${iso(atMs)}`).toBe(theirs.nextRun(new Date(atMs))?.getTime() ?? null)
          atMs = next
        }
      }
    }
  })
})

it('is the same whatever zone the machine is in (E19, B09)', () => {
  const script = `import { cronSlots } from ${JSON.stringify(new URL('../../../dist/engine/schedules/cron.js', import.meta.url).href)}
    const { next } = cronSlots('30 2 * * *', 'Europe/Berlin')
    let at = Date.parse('2026-03-27T00:00Z')
    console.log(JSON.stringify(Array.from({ length: 300 }, () => at = next(at))))`
  const told = ['UTC', 'America/New_York', 'Asia/Kathmandu'].map((TZ) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ },
      encoding: 'utf8',
    }),
  )
  expect(new Set(told).size).toBe(1)
  expect(told[0]).toContain(String(at('2026-03-29T01:00Z')))
})
