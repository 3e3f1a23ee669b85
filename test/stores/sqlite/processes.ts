import { type Program, start as startProgram } from '../../support/processes.ts'

export type { Program } from '../../support/processes.ts'

/** Starts one of the programs of this folder. */
export function start(program: string, ...args: string[]): Program {
  return startProgram(new URL(program, import.meta.url), ...args)
}
