import { describe, expect, it } from 'vitest'
import { CommandRefused } from '../../../src/engine/errors.ts'
import { defineJob } from '../../../src/engine/jobs/definition.ts'
import type { ScheduleOptions } from '../../../src/engine/schedules/schedules.ts'
import { type Bench, bench, failure, stopNow } from '../../support/bench.ts'
import { trapUnhandledRejections } from '../../support/unhandled.ts'

trapUnhandledRejections()

const report = defineJob<{ of: string }>({ name: 'report', keepMs: 1_000, run: () => {} })
const nightly = { job: report, input: { of: 'shop' }, cron: '30 2 * * *', timeZone: 'Europe/Berlin' } as const
const idle = { jobs: [], schedules: false }
const minuteMs = 60_000
const at = (text: string): Date => new Date(text)

async function ids({ database }: Pick<Bench, 'database'>): Promise<string[]> {
  return (await database.raw.dump()).jobs.map(({ spec }) => spec.id)
}

describe('put', () => {
  it('makes a schedule; again, it changes nothing (17.1)', async () => {
    const b = bench(idle)
    const made = await b.engine.schedules.put('nightly', nightly)
    expect(made).toMatchObject({
      key: 'nightly',
      kind: 'report',
      queue: 'default',
      trigger: { cron: '30 2 * * *', timeZone: 'Europe/Berlin' },
      catchUp: 'latest',
      paused: false,
      nextAt: at('2026-01-01T01:30Z'),
      lastAt: null,
      madeAt: at('2026-01-01T00:00Z'),
    })
    await b.clock.advance(5 * 24 * 60 * minuteMs)
    const before = await b.database.raw.dump()
    expect(await b.engine.schedules.put('nightly', nightly)).toEqual(made)
    expect(await b.database.raw.dump()).toEqual(before)
  })

  it('with another input keeps when it is due: what was missed over a deploy is not forgotten', async () => {
    const b = bench(idle)
    await b.engine.schedules.put('nightly', nightly)
    await b.clock.advance(24 * 60 * minuteMs)
    const changed = await b.engine.schedules.put('nightly', { ...nightly, input: { of: 'depot' } })
    expect(changed.nextAt).toEqual(at('2026-01-01T01:30Z'))
    const moved = await b.engine.schedules.put('nightly', { ...nightly, cron: '0 4 * * *' })
    expect(moved.nextAt).toEqual(at('2026-01-02T03:00Z'))
    expect(moved.madeAt).toEqual(at('2026-01-01T00:00Z'))
  })

  it('of an interval begins at its start, or now, and keeps to that', async () => {
    const b = bench(idle)
    const every = { job: report, input: { of: 'x' }, everyMs: 10 * minuteMs }
    await b.clock.advance(1)
    expect((await b.engine.schedules.put('a', every)).nextAt).toEqual(at('2026-01-01T00:10:00.001Z'))
    await b.clock.advance(4 * minuteMs)
    expect((await b.engine.schedules.put('a', every)).nextAt).toEqual(at('2026-01-01T00:10:00.001Z'))
    const shorter = await b.engine.schedules.put('a', { ...every, everyMs: 3 * minuteMs })
    expect(shorter.nextAt).toEqual(at('2026-01-01T00:06:00.001Z'))
    const startAt = at('2026-02-01T12:00Z')
    expect((await b.engine.schedules.put('b', { ...every, startAt })).nextAt).toEqual(startAt)
    const begun = { ...every, startAt: at('2025-12-31T23:59Z') }
    expect((await b.engine.schedules.put('c', begun)).nextAt).toEqual(at('2026-01-01T00:09Z'))
  })

  it('meets others that put at the same time: one change after the other, no error', async () => {
    const b = bench(idle)
    const every = { job: report, input: { of: 'x' }, everyMs: 10 * minuteMs }
    const puts = [1, 2, 3, 4].map((n) => b.engine.schedules.put('k', { ...every, everyMs: n * minuteMs }))
    await Promise.all(puts)
    const { trigger, nextAt } = (await b.engine.schedules.get('k')) ?? {}
    const { everyMs = 0 } = trigger as { readonly everyMs?: number }
    expect(nextAt).toEqual(new Date(b.database.nowMs() + everyMs))
  })

  it('keeps what a newer release has added, wherever that is, and what says the same changes nothing (0.19, 25.5)', async () => {
    const b = bench(idle)
    const { schedules } = b.database.raw
    const all = { ...nightly, catchUp: { all: 3 } }
    await b.engine.schedules.put('nightly', all)
    const row = await schedules.get({ key: 'nightly' })
    const { trigger, catchUp, job } = JSON.parse(row?.spec ?? '') as Record<string, object>
    // In an order of its own, too.
    const ahead = { until: { deep: ['é', null, { n: 1.5 }] } }
    const newer = {
      ...ahead,
      job: { ...ahead, ...job },
      catchUp: { ...ahead, ...catchUp },
      trigger: { ...trigger, ...ahead },
    }
    const version = row?.version ?? ''
    const put = { key: 'nightly', version, command: 'c', spec: JSON.stringify(newer), nextAtMs: null }
    expect(await schedules.put(put)).toEqual({ kind: 'put' })
    const before = await b.database.raw.dump()
    await b.engine.schedules.put('nightly', all)
    expect(await b.database.raw.dump()).toEqual(before)
    await b.engine.schedules.put('nightly', { ...all, cron: '* * * * *', timeZone: 'UTC', keepMs: 7 })
    await b.engine.schedules.pause('nightly')
    await b.engine.schedules.resume('nightly')
    const after = await schedules.get({ key: 'nightly' })
    expect(JSON.parse(after?.spec ?? '')).toEqual({
      ...newer,
      trigger: { cron: '* * * * *', timeZone: 'UTC', ...ahead },
      job: { ...newer.job, keepMs: 7 },
    })
  })

  it('whose reply is lost has made it, once (8)', async () => {
    const b = bench(idle)
    b.wire.next('schedules.put', 'lose-reply')
    const put = b.engine.schedules.put('nightly', nightly)
    await b.clock.advance(1_000)
    expect((await put).nextAt).toEqual(at('2026-01-01T01:30Z'))
    expect((await b.database.raw.dump()).schedules).toHaveLength(1)
  })

  it('with a codec that never says the same twice is no change either', async () => {
    let salt = 0
    const codec = { encode: (json: string) => `${++salt}:${json}`, decode: (text: string) => text.slice(2) }
    const b = bench({ ...idle, codec })
    await b.engine.schedules.put('nightly', nightly)
    const before = await b.database.raw.dump()
    await b.engine.schedules.put('nightly', nightly)
    expect(await b.database.raw.dump()).toEqual(before)
    await b.engine.schedules.put('nightly', { ...nightly, input: { of: 'depot' } })
    expect(await b.database.raw.dump()).not.toEqual(before)
  })

  const interval = { cron: undefined, timeZone: undefined, everyMs: 5_000 }
  const wrong: readonly [string, object, string][] = [
    ['no times', { cron: undefined }, 'SCHEDULE_INVALID'],
    ['two kinds of times', { everyMs: 5_000 }, 'SCHEDULE_INVALID'],
    ['an interval under a second', { ...interval, everyMs: 999 }, 'SCHEDULE_INVALID'],
    ['a start that is no date', { ...interval, startAt: 7 }, 'SCHEDULE_INVALID'],
    ['a start beside an expression', { startAt: new Date(0) }, 'SCHEDULE_INVALID'],
    ['a zone beside an interval', { ...interval, timeZone: 'UTC' }, 'SCHEDULE_INVALID'],
    ['keys that are none', { keys: null }, 'INVALID_ARGUMENT'],
    ['times that never come', { cron: '0 0 31 4 *' }, 'SCHEDULE_INVALID'],
    ['a policy of its own', { catchUp: 'some' }, 'SCHEDULE_INVALID'],
    ['to make up for nothing at all', { catchUp: { all: 0 } }, 'SCHEDULE_INVALID'],
    ['an id', { id: 'x' }, 'INVALID_ARGUMENT'],
    ['a delay', { delayMs: 5 }, 'INVALID_ARGUMENT'],
    ['a lease below the margin', { leaseTtlMs: 5_000 }, 'INVALID_CONFIG'],
    ['no definition', { job: {} }, 'INVALID_ARGUMENT'],
  ]
  it.each(wrong)('refuses %s, and stores nothing', async (_what, change, code) => {
    const b = bench(idle)
    const options = { ...nightly, ...change } as ScheduleOptions<{ of: string }>
    expect(await failure(b.engine.schedules.put('k', options))).toMatchObject({ code })
    expect((await b.database.raw.dump()).schedules).toEqual([])
  })

  it('refuses a key that leaves no room for a slot in an id', async () => {
    const b = bench(idle)
    for (const key of ['', 'k'.repeat(401), 'a\0b']) {
      expect(await failure(b.engine.schedules.put(key, nightly))).toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
    await b.engine.schedules.put('k'.repeat(400), nightly)
  })
})

describe('a schedule', () => {
  it.each(['{"trigger":{"moon":"full"},"catchUp":"latest","job":{}}', 'null', 'not JSON'])(
    'that nobody here understands hides no other, and is left as it is: %s (25.5)',
    async (spec) => {
      const { engine, database } = bench(idle)
      const row = { key: 'a', version: null, command: 'x', spec, nextAtMs: database.nowMs() }
      await database.raw.schedules.put(row)
      await engine.schedules.put('nightly', nightly)
      const { schedules, unreadable, next } = await engine.schedules.list()
      expect([schedules.map(({ key }) => key), unreadable, next]).toEqual([['nightly'], ['a'], null])
      const before = await database.raw.dump()
      for (const call of ['get', 'pause', 'resume'] as const) {
        await expect(engine.schedules[call]('a')).rejects.toMatchObject({ code: 'SCHEDULE_INVALID' })
      }
      expect(await database.raw.dump()).toEqual(before)
      expect(await engine.schedules.remove('a')).toBe(true)
    },
  )

  it('is told, listed page by page, and removed', async () => {
    const { schedules } = bench(idle).engine
    for (const key of ['c', 'a', 'b']) await schedules.put(key, nightly)
    await expect(schedules.list(null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const first = await schedules.list({ limit: 2 })
    expect(first.schedules.map(({ key }) => key)).toEqual(['a', 'b'])
    const second = await schedules.list({ limit: 2, cursor: first.next })
    expect([second.schedules.map(({ key }) => key), second.next]).toEqual([['c'], null])
    expect((await schedules.list({ limit: 3 })).next).toBeNull()
    expect(await schedules.remove('b')).toBe(true)
    expect(await schedules.remove('b')).toBe(false)
    expect(await schedules.get('b')).toBeNull()
  })

  it('says when it will fire, by the time of the database', async () => {
    const b = bench(idle)
    b.database.jump(24 * 60 * minuteMs)
    expect(await b.engine.schedules.next({ cron: '0 12 * * *' }, 2)).toEqual([
      at('2026-01-02T12:00Z'),
      at('2026-01-03T12:00Z'),
    ])
    expect(await b.engine.schedules.next({ everyMs: 5_000 }, 1)).toEqual([at('2026-01-02T00:00:05Z')])
    expect(await failure(b.engine.schedules.next({ cron: '0 0 30 2 *' }, 1))).toMatchObject({
      code: 'SCHEDULE_INVALID',
    })
  })

  it('that is paused makes no job; let go on, it goes on with what is to come', async () => {
    const b = bench({ jobs: [report] })
    await b.engine.start()
    await b.engine.schedules.put('k', {
      job: report,
      input: { of: 'x' },
      cron: '* * * * *',
      catchUp: { all: 99 },
    })
    await b.clock.advance(2 * minuteMs + 1_000)
    expect(await b.engine.schedules.pause('k')).toMatchObject({ paused: true, nextAt: null })
    const made = await ids(b)
    expect(made).toEqual(['k@2026-01-01T00:01:00.000Z', 'k@2026-01-01T00:02:00.000Z'])
    await b.clock.advance(10 * minuteMs)
    expect(await ids(b)).toEqual(made)
    await b.engine.schedules.pause('k')
    const { nextAt, lastAt } = await b.engine.schedules.resume('k')
    expect([nextAt, lastAt]).toEqual([at('2026-01-01T00:13Z'), at('2026-01-01T00:02Z')])
    await b.engine.schedules.resume('k')
    await b.clock.advance(minuteMs)
    expect(await ids(b)).toEqual([...made, 'k@2026-01-01T00:13:00.000Z'])
    await stopNow(b)
  })

  it('that is not there is neither paused nor let go on', async () => {
    const { schedules } = bench(idle).engine
    for (const change of [schedules.pause('k'), schedules.resume('k')]) {
      expect(await failure(change)).toBeInstanceOf(CommandRefused)
    }
  })
})
