import crypto, { getRandomValues, randomBytes, randomUUID, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { leakOf, lineAt, virtually } from './leaks.ts'

const bytes = new Uint8Array(4)

const leaks: [what: string, call: () => unknown][] = [
  ['Math.random', () => Math.random()],
  ['Math.random', () => [1, 2].map(Math.random)],
  ['crypto.randomBytes', () => crypto.randomBytes(4)],
  ['crypto.randomBytes', () => randomBytes(4)],
  ['crypto.randomBytes', () => promisify(randomBytes)(4)],
  ['crypto.randomUUID', () => crypto.randomUUID()],
  ['crypto.randomUUID', () => randomUUID()],
  ['crypto.randomUUID', () => globalThis.crypto.randomUUID()],
  ['crypto.randomUUID', () => webcrypto.randomUUID()],
  ['crypto.randomInt', () => crypto.randomInt(10)],
  ['crypto.randomFill', () => crypto.randomFill(bytes, () => {})],
  ['crypto.randomFillSync', () => crypto.randomFillSync(bytes)],
  ['crypto.getRandomValues', () => crypto.getRandomValues(bytes)],
  ['crypto.getRandomValues', () => getRandomValues(bytes)],
  ['crypto.getRandomValues', () => globalThis.crypto.getRandomValues(bytes)],
  ['crypto.getRandomValues', () => webcrypto.getRandomValues(bytes)],
  ['crypto.generateKeyPairSync', () => crypto.generateKeyPairSync('ed25519')],
  ['crypto.pbkdf2', () => crypto.pbkdf2('a', 'b', 1, 8, 'sha1', () => {})],
  ['crypto.subtle.digest', () => globalThis.crypto.subtle.digest('SHA-256', bytes)],
  ['crypto.subtle.digest', () => crypto.subtle.digest('SHA-256', bytes)],
]

test.each(leaks)('%s, armed, is a leak at the line that calls it: %s', (what, call) => {
  const leak = leakOf(call)
  expect(leak?.what).toBe(what)
  expect(lineAt(leak?.site ?? '')).toContain(`['${what}', () =>`)
})

test.each<[call: () => unknown]>([
  [() => crypto.createHash('sha256').update('a').digest('hex')],
  [() => crypto.createHmac('sha256', 'key').update('a').digest('hex')],
  [() => crypto.pbkdf2Sync('a', 'b', 1, 8, 'sha1')],
  [() => crypto.timingSafeEqual(bytes, bytes)],
  [() => Math.max(1, 2)],
])('a function of its input is no leak: %s', (call) => {
  expect(leakOf(call)).toBeNull()
})

test('disarmed, chance is real', async () => {
  const drawn = Array.from({ length: 100 }, () => Math.random())
  expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true)
  expect(new Set(drawn).size).toBe(100)
  expect(randomUUID()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/)
  expect(await promisify(randomBytes)(4)).toHaveLength(4)
  const digest = await globalThis.crypto.subtle.digest('SHA-256', bytes)
  expect(Buffer.from(digest).equals(crypto.createHash('sha256').update(bytes).digest())).toBe(true)
})

test('virtual, armed, Math.random answers from the source and is no leak; crypto remains one', () => {
  expect(virtually({ nowMs: 0, random: 0.25 }, () => Math.random())).toBe(0.25)
  expect(leakOf(() => {})).toBeNull()
  expect(virtually({ nowMs: 0 }, () => leakOf(() => randomUUID()))?.what).toBe('crypto.randomUUID')
})
