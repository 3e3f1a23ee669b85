import type { EngineEvent } from '../history.ts'

/** What the engine tells the world. An observer that throws is reported once and never harms a job. */
export interface Observer {
  event(event: EngineEvent): void
}
