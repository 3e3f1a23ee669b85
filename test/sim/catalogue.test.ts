import { describe, expect, test } from 'vitest'
import { InvalidArgument } from '../../src/engine/errors.ts'
import { requireFamilies, scenarioNamed, scenariosIn, storeNamed } from '../../src/sim/catalogue.ts'
import { scenarios } from '../../src/sim/scenarios/index.ts'

const moduleOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`
const whole = `name: 'mine', says: 's', workers: 1, concurrency: 1, activeMs: 1, jobs: [], workload: () => [], families: [], swarm: false`

test.each(['', 'nope', '__proto__', 'constructor', 'toString'])('there is no store %j', async (name) => {
  await expect(storeNamed(name)).rejects.toThrow(InvalidArgument)
})

test('what is unknown is answered with what there is', async () => {
  await expect(storeNamed('oracle')).rejects.toThrow(/memory/)
  expect(() => scenarioNamed('nope', scenarios)).toThrow(/standard, lost-claim-replies/)
  expect(() => requireFamilies(['crash', 'flood'])).toThrow(/no fault family flood; there are .*crash/)
  expect(() => requireFamilies([])).toThrow(InvalidArgument)
  expect(() => requireFamilies(['crash'])).not.toThrow()
})

describe('a module of a user', () => {
  test.each([`export default { ${whole} }`, `export default [{ ${whole} }]`])(
    '%s has one scenario',
    async (text) => {
      expect((await scenariosIn(moduleOf(text))).map(({ name }) => name)).toEqual(['mine'])
    },
  )

  test.each([
    ['', /must export a scenario/],
    ['export const scenario = 1', /must export a scenario/],
    ['export default []', /must export a scenario/],
    ['export default 7', /that is no object/],
    ['export default null', /that is no object/],
    ['export default [null]', /that is no object/],
    ['export default {}', /without a name/],
    [`export default { ${whole}, name: '' }`, /without a name/],
    [`export default { ${whole}, workers: 0 }`, /mine whose workers is no whole number >= 1/],
    [`export default { ${whole}, activeMs: '60' }`, /mine whose activeMs/],
    [`export default { ${whole}, workload: [] }`, /whose workload is no function/],
    [`export default { ${whole}, jobs: {} }`, /whose jobs are no list/],
    [`export default { ${whole}, families: undefined }`, /whose families are no list/],
    [`export default { ${whole}, families: ['crash', 'flood'] }`, /unknown fault families: flood/],
    [`export default { ${whole}, swarm: undefined }`, /whose swarm/],
    [`export default { ${whole}, properties: [{}] }`, /mine whose properties: number 0 must have a name/],
    [`export default { ${whole}, services: [{}] }`, /mine whose services: number 0 must be made by service/],
    [`export default [{ ${whole} }, { ${whole} }]`, /two scenarios of one name/],
    ['throw new Error("not today")', /cannot be imported: .*not today/],
    ['import "./nowhere.mjs"', /cannot be imported/],
    ['export default {', /cannot be imported/],
  ])('%j is refused with a reason', async (text, reason) => {
    const refused = scenariosIn(moduleOf(text))
    await expect(refused).rejects.toThrow(InvalidArgument)
    await expect(refused).rejects.toThrow(reason)
  })
})
