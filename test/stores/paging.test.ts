import { describe, expect, it } from 'vitest'
import { cursorAt, pageLimit, pageOf, seqBefore } from '../../src/stores/paging.ts'

describe('a cursor', () => {
  it('stands for a sequence exactly, beyond 2^53 too, and fits into an address', () => {
    for (const seq of ['1', '9007199254740993', '9223372036854775807']) {
      const cursor = cursorAt(seq)
      expect(cursor).toMatch(/^[\w-]+$/)
      expect(seqBefore(cursor)).toBe(seq)
    }
  })

  it('is refused unless it is one to the letter, and shown when it is', () => {
    for (const seq of ['0', '-1', '01', '1.0', '9223372036854775808', '', 'x']) {
      expect(() => seqBefore(cursorAt(seq))).toThrow(/cursor must be one that a page has answered/)
    }
    for (const cursor of ['', 'seq:1', `${cursorAt('1')}=`, cursorAt('1').slice(1), 7 as unknown as string]) {
      expect(() => seqBefore(cursor)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error)
    }
  })
})

describe('a page', () => {
  it('ends at the last of its rows, and the last page nowhere', () => {
    const seqOf = (row: number): string => String(row)
    expect(pageOf([9, 8, 7], 2, seqOf)).toEqual({ rows: [9, 8], next: cursorAt('8') })
    expect(pageOf([9, 8], 2, seqOf)).toEqual({ rows: [9, 8], next: null })
    expect(pageOf([], 2, seqOf)).toEqual({ rows: [], next: null })
  })

  it('has 1 to 10,000 rows', () => {
    const asked = [Number.NaN, -1, 0, 1, 2.9, 10_000, 10_001, Number.POSITIVE_INFINITY]
    expect(asked.map(pageLimit)).toEqual([1, 1, 1, 1, 2, 10_000, 10_000, 10_000])
  })
})
