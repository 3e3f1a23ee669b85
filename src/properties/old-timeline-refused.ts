import { type Timeline, begins, newTimeline } from './model/timeline.ts'
import { type Property, property } from './property.ts'

/**
 * Why: that nothing from before a restore writes is put to the test only by one that tries. (Decision 24.)
 *
 * Blind spot: whether its write would have applied but for the timeline is not asked.
 */
export const oldTimelineRefused: Property = property({
  name: 'old-timeline-refused',
  kind: 'sometimes',
  says: 'A worker that had slept through a restore from a backup wrote, and was refused.',
  blindSpot: 'Does not say whether its write would have applied but for the timeline.',
  on: ['timeline.began', 'job.settled', 'job.noted', 'log.appended'],
  suspendedBy: [],
  recalls: 'all',
  needs: ['database-restored'],
  after: ['timeline.began'],
  start: (): Timeline => newTimeline(),
  step(timeline, event, verdict) {
    if (event.type === 'timeline.began') return void begins(timeline, event)
    const refused = event.type === 'job.settled' ? event.settled !== 'applied' : !event.applied
    if (refused && event.epoch < timeline.first) verdict.evaluated()
  },
})
