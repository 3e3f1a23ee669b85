export { bench } from './bench/bench.ts'
export type { Bench, BenchOptions, FaultChoice, Work, WorkOptions } from './bench/options.ts'
export type { BenchStore, Where } from './bench/deal.ts'
export type { BenchFailure, BenchResult } from './bench/found.ts'
export {
  type ReplayOptions,
  type Replayed,
  type TrialOptions,
  replay,
  trial,
} from './bench/replay.ts'
export { type SimulateOptions, type Simulated, simulate } from './bench/simulate.ts'
export {
  type Counterexample,
  type Exploration,
  type ExploreOptions,
  type Retraced,
  type TopologyOptions,
  explore,
  retrace,
  topology,
} from './bench/explore.ts'
export type { Chooser } from './chooser.ts'
export type { Duty } from './duty.ts'
export type { Counts, Explored } from './explore/explore.ts'
export type { Found } from './explore/lane.ts'
export type { Level, Spread } from './explore/spread.ts'
export type {
  Deviation,
  ExploredFamily,
  FaultOption,
  Order,
  TimedOrder,
  Topology,
} from './explore/topology.ts'
export type { Fault, FamilyName } from './faults/fault.ts'
export { families, serviceFamilies } from './faults/index.ts'
export type { Leak } from './guard/guard.ts'
export type { PropertyTally, Violation } from './recorder.ts'
export type { ReplayFile } from './replay.ts'
export { type RunOptions, type RunResult, type RunVerdict, type StoreFactory, run } from './run.ts'
export { scenarios } from './scenarios/index.ts'
export type { Scenario, WorkStep } from './scenarios/scenario.ts'
export { type Seed, formatSeed, parseSeed } from './seed.ts'
export {
  type Call,
  type CallOptions,
  type Calls,
  type Moment,
  type Port,
  type Ports,
  type Service,
  type ServiceOptions,
  ServiceRefused,
  ServiceUnavailable,
  service,
} from './services/service.ts'
