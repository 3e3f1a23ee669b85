/** Chance and identity. Each consumer names its own stream, so that one more draw in one moves no other. */
export interface Random {
  /** A new identifier, unguessable and unique for all time outside a simulation. */
  id(stream: RandomStream): string
  /** A number in [0, 1). */
  unit(stream: RandomStream): number
}

export type RandomStream =
  | 'incarnation'
  | 'job'
  | 'insert'
  | 'command'
  | 'owner'
  | 'jitter'
  | 'retry'
  | 'schedule'
  | 'retention'
