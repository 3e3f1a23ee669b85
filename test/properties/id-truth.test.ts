import { describe, test } from 'vitest'
import { idTruth as property } from '../../src/properties/index.ts'
import { acknowledged, expectHolds, expectRefused, inserted, said } from './dsl.ts'

const refused = (job: string, input: number) => said('insert.refused', { job, kind: 'work', input })

describe('id-truth (contract 0.17)', () => {
  test('accepts the same job again, and another of its id refused', () => {
    expectHolds(property, [inserted('a'), inserted('a', { created: false }), refused('a', 8)], 2)
    const told = [acknowledged('a'), acknowledged('a', { created: false })]
    expectHolds(property, [inserted('a'), ...told], 1)
  })

  test('refuses that another kind or input passes for the same job', () => {
    expectRefused(property, [inserted('a'), inserted('a', { input: 8 })], 'conflict-unnoticed')
    expectRefused(property, [inserted('a'), inserted('a', { kind: 'other' })], 'conflict-unnoticed')
  })

  test('refuses that the same job, or a new one, is called a conflict', () => {
    expectRefused(property, [inserted('a'), refused('a', 7)], 'refused-without-conflict')
    expectRefused(property, [refused('a', 7)], 'refused-without-conflict')
  })

  test('refuses that two producers have created it, or that none has', () => {
    expectRefused(property, [inserted('a'), acknowledged('a'), acknowledged('a')], 'created-twice')
    expectRefused(property, [inserted('a', { created: false })], 'new-job-denied')
  })
})
