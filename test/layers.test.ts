// The layer rule is alive: it finds each planted violation, passes clean code, and refuses to pass on nothing.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../scripts/layers.mjs', import.meta.url))
const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/layers/${name}`, import.meta.url))

function layers(...args: string[]): { status: number | null; out: string; errors: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  return { status, out: stdout, errors: stderr }
}

describe('the layer rule', () => {
  const planted = layers(fixture('planted'), '--modules-min', '1')

  test('passes over the source of the package', () => {
    const { status, out, errors } = layers()
    expect(errors).toBe('')
    expect(out).toMatch(/^layers: \d+ modules, \d+ imports, 0 violations$/m)
    expect(status).toBe(0)
  })

  test('passes over code that keeps it', () => {
    expect(layers(fixture('clean'), '--modules-min', '1')).toMatchObject({ status: 0, errors: '' })
  })

  test.each([
    [
      'the engine knows a store',
      /^engine\/knows-a-store\.ts:1 imports stores\/memory\/index\.ts \(engine: .+\)$/m,
    ],
    ['the engine reads the machine', /^engine\/reads-the-machine\.ts:1 imports node:os \(engine: .+\)$/m],
    ['the engine imports a computed name', /^engine\/computed\.ts:1 imports a computed name/m],
    [
      'a store re-exports from the bench',
      /^stores\/memory\/index\.ts:1 imports sim\/world\.ts \(stores: .+\)$/m,
    ],
    [
      'a property shares code with the engine',
      /^properties\/shares-code\.ts:1 imports values, .+ engine\/history\.ts/m,
    ],
    [
      'a property uses a type beside history',
      /^properties\/shares-a-type\.ts:1 imports engine\/jobs\/record\.ts/m,
    ],
    ['the bench starts the command as a worker', /^sim\/run\.ts:1 imports cli\/main\.ts \(sim: .+\)$/m],
    ['the bench needs a driver', /^sim\/needs-a-driver\.ts:1 imports pg \(sim: .+\)$/m],
    ['a report runs properties', /^report\/judges\.ts:\d+ imports values, .+ properties\/index\.ts/m],
    ['the public face exports the bench', /^index\.ts:1 imports sim\/run\.ts \(index\.ts: .+\)$/m],
    ['a folder has no rule', /^misc\/helper\.ts:1 is in no layer/m],
  ])('names a planted violation: %s', (_what, line) => {
    expect(planted.errors).toMatch(line)
    expect(planted.status).toBe(1)
  })

  test('fails over an empty folder: 0 modules prove nothing', () => {
    const empty = mkdtempSync(path.join(tmpdir(), 'holdfast-layers-'))
    try {
      const { status, errors } = layers(empty)
      expect(errors).toContain('layers: 0 modules under')
      expect(status).toBe(1)
    } finally {
      rmSync(empty, { recursive: true })
    }
  })

  test('fails over a folder that does not exist', () => {
    expect(layers(fixture('missing')).status).toBe(1)
  })

  test('fails over fewer modules than a real source has', () => {
    const { status, errors } = layers(fixture('clean'))
    expect(errors).toContain('expected 20 or more')
    expect(status).toBe(1)
  })
})
