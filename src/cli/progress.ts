import { createLogUpdate } from 'log-update'

/** Long work shows that it goes on: one live line in a terminal, a line now and then elsewhere. Always on stderr. */
export interface Progress {
  tell(line: string): void
  end(): void
}

const plainMs = 10_000

export function createProgress(silent: boolean): Progress {
  if (silent) return { tell: () => {}, end: () => {} }
  if (!process.stderr.isTTY) return plainProgress()
  const live = createLogUpdate(process.stderr)
  let toldMs = 0
  return {
    tell: (line) => {
      const nowMs = performance.now()
      if (nowMs - toldMs < 100) return
      toldMs = nowMs
      live(line)
    },
    end: () => live.clear(),
  }
}

function plainProgress(): Progress {
  let toldMs = performance.now()
  return {
    tell: (line) => {
      const nowMs = performance.now()
      if (nowMs - toldMs < plainMs) return
      toldMs = nowMs
      process.stderr.write(`${line}\n`)
    },
    end: () => {},
  }
}
