import type { EngineEvent } from '../history.ts'
import type { Metric } from '../metrics.ts'

/** What the engine tells the world. An observer that throws is reported once and never harms a job. */
export interface Observer {
  event(event: EngineEvent): void
  /** Measurements for graphs. Without it none is taken. */
  metric?(metric: Metric): void
}
