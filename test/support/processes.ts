import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

interface Message {
  readonly kind: string
  readonly [key: string]: unknown
}

/** A real process that runs a program of the tests. */
export interface Program {
  readonly process: ChildProcess
  readonly messages: readonly Message[]
  /** Resolves with the first message of that kind; rejects if the process ends without one. */
  heard(kind: string): Promise<Message>
  /** Resolves with the exit code, or the signal. */
  ended(): Promise<number | string | null>
}

export function start(program: URL, ...args: string[]): Program {
  const child = fork(program, args, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const messages: Message[] = []
  child.on('message', (message) => messages.push(message as Message))
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>
  return {
    process: child,
    messages,
    heard: (kind) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = messages.find((message) => message.kind === kind)
          if (!found) return
          child.off('message', look)
          resolve(found)
        }
        child.on('message', look)
        look()
        void exit.then(([code, signal]) => {
          look()
          reject(new Error(`${program.pathname} ended (${code ?? signal}) without saying ${kind}`))
        })
      }),
    ended: async () => {
      const [code, signal] = await exit
      return code ?? signal
    },
  }
}
