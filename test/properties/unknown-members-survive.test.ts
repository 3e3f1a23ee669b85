import { describe, test } from 'vitest'
import { unknownMembersSurvive as property } from '../../src/properties/index.ts'
import { type Draft, expectHolds, expectRefused, jobMembers, said, scheduleMembers } from './dsl.ts'

const stated = { stated: true } as const
const job = jobMembers('a', { ...stated, beyond: 5 })
const replay = (beyond: number, replays = 'a', as = `${replays}~r1`): Draft =>
  jobMembers(as, { ...stated, beyond, replays })
const put = (beyond: number, jobs: number): Draft => scheduleMembers('k', { ...stated, beyond, jobs })
const slot = (beyond: number, id = 'k@1'): Draft => jobMembers(id, { ...stated, beyond, schedule: 'k' })
const removed = said('schedule.removed', { key: 'k', removed: true })

describe('unknown-members-survive (contract 0.19, 25.5, 27.56)', () => {
  test('holds of a job that has them at each sight, and its replays, however often they are told', () => {
    const sights = [jobMembers('a', { beyond: 5 }), jobMembers('a', { beyond: 5 })]
    const chain = [replay(5), replay(5), jobMembers('a~r1', { beyond: 5 }), replay(5, 'a~r1', 'a~r2')]
    expectHolds(property, [job, job, ...sights, ...chain], 7)
  })

  test('has nothing to say of a job of this release, nor of what is made of it', () => {
    const plain = [jobMembers('a', stated), jobMembers('a'), replay(0), jobMembers('a~r1'), jobMembers('b')]
    expectHolds(property, [...plain, put(0, 0), scheduleMembers('k'), slot(0), jobMembers('k@1')], 0)
  })

  test('holds of a schedule that a newer release changes, the older one puts, and that is made anew', () => {
    const jobs = [slot(4), jobMembers('k@1', { beyond: 4 })]
    const seen = scheduleMembers('k', { beyond: 3, jobs: 4 })
    expectHolds(property, [put(0, 0), put(3, 4), put(3, 4), seen, ...jobs], 4)
    expectHolds(property, [put(3, 4), removed, put(0, 0), slot(0, 'k@2'), put(6, 7), slot(7, 'k@3')], 1)
  })

  test('has forgotten a job that is removed: another may come by its id', () => {
    const gone = said('job.removed', { job: 'a' })
    expectHolds(
      property,
      [job, jobMembers('a', { beyond: 5 }), gone, jobMembers('a', stated), jobMembers('a')],
      1,
    )
  })

  test('refuses what is lost of a job, or is another’s', () => {
    expectRefused(property, [job, jobMembers('a')], 'lost')
    expectRefused(property, [job, jobMembers('a', { beyond: 6 })], 'changed')
    expectRefused(property, [jobMembers('a', stated), jobMembers('a', { beyond: 6 })], 'of-nobody')
  })

  test('refuses a replay, or the job of a slot, that does not have them, at once and at each sight', () => {
    expectRefused(property, [job, replay(0)], 'not-carried')
    expectRefused(property, [job, replay(7), jobMembers('a~r1', { beyond: 7 })], 'not-carried', 'changed')
    expectRefused(property, [put(3, 4), slot(0)], 'not-carried')
    expectRefused(property, [put(3, 0), slot(3)], 'of-nobody')
  })

  test('refuses a schedule that loses them, by a put of the older release too', () => {
    expectRefused(property, [put(3, 4), put(0, 4)], 'lost')
    expectRefused(property, [put(3, 4), put(3, 0)], 'lost')
    expectRefused(property, [put(3, 4), scheduleMembers('k')], 'lost', 'lost')
    expectRefused(property, [put(3, 4), scheduleMembers('k', { beyond: 3, jobs: 5 })], 'changed')
  })
})
