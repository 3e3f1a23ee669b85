import { standard } from './standard.ts'
import type { Scenario } from './scenario.ts'

export const everything: Scenario = {
  ...standard,
  name: 'everything',
  says: 'the standard work with every fault family on at once',
  swarm: false,
}
