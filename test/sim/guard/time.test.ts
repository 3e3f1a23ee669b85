import process, { hrtime } from 'node:process'
import { performance as fromModule } from 'node:perf_hooks'
import vm from 'node:vm'
import { expect, test } from 'vitest'
import { leakOf, lineAt, virtually } from './leaks.ts'

class Birthday extends Date {
  age(): number {
    return 2000 - this.getUTCFullYear()
  }
}
const dates = new Intl.DateTimeFormat('en', { timeZone: 'UTC', dateStyle: 'short' })
const keptFormat: (date?: Date) => string = Reflect.get(dates, 'format')

const leaks: [what: string, call: () => unknown][] = [
  ['Date.now', () => Date.now()],
  ['new Date()', () => new Date()],
  ['Date()', () => Date()],
  ['performance.now', () => performance.now()],
  ['performance.now', () => fromModule.now()],
  ['performance.timeOrigin', () => performance.timeOrigin],
  ['performance.mark', () => performance.mark('a')],
  ['performance.toJSON', () => performance.toJSON()],
  ['process.hrtime', () => process.hrtime()],
  ['process.hrtime', () => hrtime()],
  ['process.hrtime.bigint', () => hrtime.bigint()],
  ['process.uptime', () => process.uptime()],
  ['Intl.DateTimeFormat.format', () => dates.format()],
  ['Intl.DateTimeFormat.format', () => dates.format(undefined)],
  ['Intl.DateTimeFormat.format', () => keptFormat()],
  ['Intl.DateTimeFormat.formatToParts', () => dates.formatToParts()],
]

test.each(leaks)('%s, armed, is a leak at the line that calls it: %s', (what, call) => {
  const leak = leakOf(call)
  expect(leak?.what).toBe(what)
  expect(lineAt(leak?.site ?? '')).toContain(`['${what}', () =>`)
})

test('a subclass of Date made without a time is a leak', () => {
  expect(leakOf(() => new Birthday())).toMatchObject({
    what: 'new Date()',
    site: expect.stringContaining(import.meta.filename),
  })
})

test.each<[call: () => unknown]>([
  [() => new Date(5)],
  [() => new Date(2000, 1, 1)],
  [() => new Birthday(5).age()],
  [() => Date.UTC(2000, 1, 1)],
  [() => Date.parse('2000-01-01')],
  [() => new Date(5).toLocaleDateString()],
  [() => new Date(new Date(5))],
  [() => dates.format(new Date(0))],
  [() => dates.format(0)],
  [() => dates.formatToParts(0)],
  [() => dates.formatRange(0, 1)],
  [() => dates.resolvedOptions()],
  [() => JSON.stringify({ at: new Date(5) })],
])('a given instant is no leak: %s', (call) => {
  expect(leakOf(call)).toBeNull()
})

test('disarmed, the clocks tell the real time', () => {
  const realNow = vm.runInNewContext('Date.now') as () => number
  const beforeMs = realNow()
  const seenMs = [
    Date.now(),
    new Date().getTime(),
    new Birthday().getTime(),
    performance.timeOrigin + performance.now() + 1,
  ]
  const afterMs = realNow()
  for (const ms of seenMs) {
    expect(ms).toBeGreaterThanOrEqual(beforeMs - 2)
    expect(ms).toBeLessThanOrEqual(afterMs + 2)
  }
  expect(Math.abs(Date.parse(Date()) - afterMs)).toBeLessThan(5000)
  expect(dates.format()).toBe(dates.format(realNow()))
  const [seconds, nanoseconds] = process.hrtime([0, 0])
  expect(Math.abs(seconds + nanoseconds / 1e9 - Number(hrtime.bigint()) / 1e9)).toBeLessThan(1)
})

test('Date remains the one Date', () => {
  const birthday = new Birthday(1000, 0)
  expect(birthday).toBeInstanceOf(Birthday)
  expect(birthday).toBeInstanceOf(Date)
  expect(birthday.age()).toBe(1000)
  expect(structuredClone(new Date(5))).toBeInstanceOf(Date)
  expect(new Date(5).constructor).toBe(Date)
  expect(Object.prototype.toString.call(new Date())).toBe('[object Date]')
  expect(Reflect.construct(Date, [5], Birthday)).toBeInstanceOf(Birthday)
  expect(new Date(undefined as unknown as number).getTime()).toBeNaN()
  expect([Date.name, Date.length, Date.now.name, Date.now.length]).toEqual(['Date', 7, 'now', 0])
  expect(Reflect.get(dates, 'format')).toBe(keptFormat)
  expect([keptFormat.name, keptFormat.length]).toEqual(['', 1])
})

test('virtual, armed, the clocks answer from the source and nothing leaks', () => {
  const atMs = Date.UTC(2031, 4, 6, 7, 8, 9, 10)
  const seen = () => ({
    now: Date.now(),
    date: new Date().getTime(),
    subclass: new Birthday().getUTCFullYear(),
    text: Date(),
    elapsed: performance.now(),
    sum: performance.timeOrigin + performance.now(),
    format: dates.format(),
    kept: keptFormat(),
    parts: dates.formatToParts().length,
  })
  expect(virtually({ nowMs: atMs }, seen)).toEqual({
    now: atMs,
    date: atMs,
    subclass: 2031,
    text: new Date(atMs).toString(),
    elapsed: atMs,
    sum: atMs,
    format: '5/6/31',
    kept: '5/6/31',
    parts: 5,
  })
  expect(leakOf(() => {})).toBeNull()
  expect(virtually({ nowMs: 7.9 }, () => [Date.now(), new Date().getTime()])).toEqual([7, 7])
})

test('virtual, what the source cannot answer remains a leak', () => {
  const leak = virtually({ nowMs: 5 }, () => {
    hrtime()
    return leakOf(() => {})
  })
  expect(leak?.what).toBe('process.hrtime')
})

test.skipIf(!('Temporal' in globalThis))('Temporal.Now is a leak', () => {
  const { Now } = Reflect.get(globalThis, 'Temporal') as { Now: { instant(): unknown } }
  expect(leakOf(() => Now.instant())?.what).toBe('Temporal.Now.instant')
})
