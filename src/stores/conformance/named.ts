import assert from 'node:assert/strict'
import type { Case } from './case.ts'
import { type Fixture, shortMs } from './fixture.ts'
import { names } from './hostile.ts'

const longMs = 3_600_000

interface Hand {
  readonly key: string
  readonly acquire: (owner: string, ttlMs?: number) => Promise<boolean>
  readonly renew: (owner: string, ttlMs?: number) => Promise<boolean>
  readonly release: (owner: string) => Promise<boolean>
}

/** One named lease, in nobody's hand. */
function leaseOf({ store: { leases }, name }: Fixture, key = name('key')): Hand {
  return {
    key,
    acquire: async (owner, ttlMs = longMs) => (await leases.acquire({ key, owner, ttlMs })).acquired,
    renew: async (owner, ttlMs = longMs) => (await leases.renew({ key, owner, ttlMs })).held,
    release: async (owner) => (await leases.release({ key, owner })).released,
  }
}

export const namedCases: readonly Case[] = [
  {
    name: 'a free lease is acquired, and by nobody else while it is held (11.1)',
    run: async (fixture) => {
      const { acquire, renew } = leaseOf(fixture)
      assert.equal(await acquire('a'), true)
      assert.equal(await fixture.unchanged([], () => acquire('b')), false)
      assert.equal(await renew('a'), true)
    },
  },
  {
    name: 'the holder does not get again what it holds, and does not lengthen it by asking (11.1, 27.67)',
    needs: 'clock',
    run: async (fixture) => {
      const { acquire } = leaseOf(fixture)
      await acquire('a', 1_000)
      await fixture.advance(999)
      assert.equal(await fixture.unchanged([], () => acquire('a')), false)
      await fixture.advance(1)
      assert.equal(await acquire('b'), true)
    },
  },
  {
    name: 'it is free at the instant of its expiry, not a millisecond before (0.2)',
    needs: 'clock',
    run: async (fixture) => {
      const { acquire, renew } = leaseOf(fixture)
      await acquire('a', 1_000)
      await fixture.advance(999)
      assert.equal(await acquire('b'), false)
      await fixture.advance(1)
      assert.equal(await fixture.unchanged([], () => renew('a')), false)
      assert.equal(await acquire('b'), true)
    },
  },
  {
    name: 'a renewal at the last millisecond makes it as long from now as the renewal says (11.1)',
    needs: 'clock',
    run: async (fixture) => {
      const { acquire, renew } = leaseOf(fixture)
      await acquire('a', 1_000)
      await fixture.advance(999)
      assert.equal(await renew('a', 5_000), true)
      await fixture.advance(4_999)
      assert.equal(await acquire('b'), false)
      await fixture.advance(1)
      assert.equal(await acquire('b'), true)
    },
  },
  {
    name: 'a lapsed lease cannot be renewed, though nobody took it; its holder may acquire it anew (0.2)',
    run: async (fixture) => {
      const { acquire, renew } = leaseOf(fixture)
      await acquire('a', shortMs)
      await fixture.pass(shortMs)
      assert.equal(await fixture.unchanged([], () => renew('a')), false)
      assert.equal(await acquire('a'), true)
      assert.equal(await renew('a'), true)
    },
  },
  {
    name: 'who lost it can neither renew nor release what another holds (0.13, 11.1)',
    run: async (fixture) => {
      const { acquire, renew, release } = leaseOf(fixture)
      await acquire('a', shortMs)
      await fixture.pass(shortMs)
      assert.equal(await acquire('b'), true)
      assert.equal(await fixture.unchanged([], () => renew('a')), false)
      assert.equal(await fixture.unchanged([], () => release('a')), false)
      assert.equal(await acquire('c'), false)
      assert.equal(await renew('b'), true)
    },
  },
  {
    name: 'a release frees it at once; again, or of what was never there, it does nothing (11.1)',
    run: async (fixture) => {
      const { acquire, renew, release } = leaseOf(fixture)
      assert.equal(await fixture.unchanged([], () => release('a')), false)
      assert.equal(await fixture.unchanged([], () => renew('a')), false)
      await acquire('a')
      assert.equal(await release('a'), true)
      assert.equal(await fixture.unchanged([], () => release('a')), false)
      assert.equal(await acquire('b'), true)
    },
  },
  {
    name: 'a lapsed lease that nobody took is released like any other (11.1)',
    run: async (fixture) => {
      const { acquire, release } = leaseOf(fixture)
      await acquire('a', shortMs)
      await fixture.pass(shortMs)
      assert.equal(await release('a'), true)
      assert.equal(await release('a'), false)
    },
  },
  {
    name: 'of eight that acquire at once, one gets it: free, lapsed and released (11.1)',
    run: async (fixture) => {
      const { acquire, release, renew } = leaseOf(fixture)
      for (const round of ['free', 'lapsed', 'released']) {
        const owners = Array.from({ length: 8 }, (_, n) => `${round}-${n}`)
        const got = await Promise.all(owners.map((owner) => acquire(owner, longMs)))
        assert.equal(got.filter(Boolean).length, 1)
        const holder = owners[got.indexOf(true)] as string
        assert.equal(await renew(holder, shortMs), true)
        if (round === 'free') await fixture.pass(shortMs)
        else if (round === 'lapsed') await release(holder)
      }
    },
  },
  {
    name: 'a renewal that races the next holder: one of the two has it, never both (0.2)',
    run: async (fixture) => {
      for (let round = 0; round < 6; round++) {
        const { acquire, renew } = leaseOf(fixture)
        await acquire('a', shortMs)
        await fixture.pass(shortMs)
        const both = round % 2 === 0 ? [renew('a'), acquire('b')] : [acquire('b'), renew('a')]
        await Promise.all(both)
        assert.deepEqual([await renew('a'), await renew('b')], [false, true])
      }
    },
  },
  {
    name: 'keys and owners that look alike are different (1.7)',
    run: async (fixture) => {
      const base = fixture.name('key')
      const hands = names.map((end) => leaseOf(fixture, base + end))
      for (const [n, { acquire }] of hands.entries()) assert.equal(await acquire(names[n] as string), true)
      for (const [n, { renew, release }] of hands.entries()) {
        assert.equal(await release(names[(n + 1) % names.length] as string), false)
        assert.equal(await renew(names[n] as string), true)
      }
    },
  },
  {
    name: 'a dump shows who holds what until when, in the order of the UTF-8 bytes of the keys (1.7)',
    needs: 'content',
    run: async (fixture) => {
      const base = fixture.name('key')
      const ends = ['', 'B', 'a', 'é', '\uFFFD', '😀']
      const fromMs = await fixture.now()
      for (const end of [...ends].reverse()) await leaseOf(fixture, base + end).acquire(`o${end}`, longMs)
      const toMs = await fixture.now()
      const rows = (await fixture.inspectable().dump()).named.filter(({ key }) => key.startsWith(base))
      assert.deepEqual(
        rows.map(({ key, owner }) => [key, owner]),
        ends.map((end) => [base + end, `o${end}`]),
      )
      for (const { expiresAtMs } of rows) {
        assert.ok(expiresAtMs >= fromMs + longMs && expiresAtMs <= toMs + longMs)
      }
    },
  },
]
