import { type Server, type Socket, connect, createServer } from 'node:net'
import { type Frame, createFrames, fatalError } from './frames.ts'

/**
 * A way to the server that breaks when the test says so. It passes whole messages on, and knows which of them are
 * statements and when the server has answered one in full: after that, whatever it did is committed.
 */
export interface Proxy {
  /** The database that it was made for, by way of the proxy. */
  readonly url: string
  /** How many connections have been made. */
  readonly made: number
  /** How a connection is broken: `reset` is an `ECONNRESET`, `end` an end without a word. Default `reset`. */
  breaks: 'reset' | 'end'
  /** A parameter in the greeting that is refused, as a pooler refuses `options`; null for none. */
  refuses: string | null
  /** Names another process than the server does, as a pooler names one of its own. Default false. */
  renames: boolean
  /**
   * Strikes the next statement whose text contains `text`. `drop-request`: it never comes to the server, and the
   * connection breaks. `drop-reply`: the server carries it out, and instead of the answer the connection breaks.
   * `hold-reply`: the answer waits for `letGo`. Resolves once it has struck, and the server has
   * undone what was open on a connection that broke.
   */
  next(fate: Fate, text?: string): Promise<void>
  letGo(): void
  /** Breaks all connections that there are. */
  cut(): void
  /** Breaks all connections, and refuses new ones until `accept`. */
  refuse(): Promise<void>
  accept(): Promise<void>
  close(): Promise<void>
}

type Fate = 'drop-request' | 'drop-reply' | 'hold-reply'

interface Strike {
  readonly fate: Fate
  readonly text: string
  readonly struck: () => void
}

export async function createProxy(target: string): Promise<Proxy> {
  const to = new URL(target)
  const strikes: Strike[] = []
  const open = new Set<() => void>()
  let held: (() => void)[] = []
  let made = 0
  const server = createServer((client) => {
    made += 1
    const upstream = connect(Number(to.port), to.hostname)
    // Messages are written one by one, and none waits for the next.
    for (const socket of [client, upstream]) socket.setNoDelay(true)
    const broken = (): void => {
      if (!open.delete(broken)) return
      if (proxy.breaks === 'reset') client.resetAndDestroy()
      else client.destroy()
      upstream.end()
    }
    open.add(broken)
    join(client, upstream, broken, {
      refused: (greeting) => proxy.refuses !== null && greeting.includes(`${proxy.refuses}\0`),
      refusal: () => fatalError('08P01', `unsupported startup parameter: ${proxy.refuses}`),
      strikeOf: (statement) => {
        const n = strikes.findIndex(({ text }) => statement.bytes.includes(text))
        const [strike] = n < 0 ? [] : strikes.splice(n, 1)
        return strike ?? null
      },
      hold: (go) => void held.push(go),
      renames: () => proxy.renames,
    })
  })
  const port = await listen(server, 0)
  const url = new URL(target)
  url.port = String(port)

  function cut(): void {
    for (const broken of open) broken()
  }

  const proxy: Proxy = {
    url: url.href,
    get made() {
      return made
    },
    breaks: 'reset',
    refuses: null,
    renames: false,
    next: (fate, text = '') => new Promise((struck) => void strikes.push({ fate, text, struck })),
    letGo: () => {
      const going = held
      held = []
      for (const go of going) go()
    },
    cut,
    refuse: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      cut()
      await closed
    },
    accept: async () => void (await listen(server, port)),
    close: async () => {
      if (server.listening) await proxy.refuse()
    },
  }
  return proxy
}

interface Rules {
  readonly refused: (greeting: Buffer) => boolean
  readonly refusal: () => Buffer
  readonly strikeOf: (statement: Frame) => Strike | null
  readonly hold: (go: () => void) => void
  readonly renames: () => boolean
}

/** One connection. A statement is a message `Q` or `P`; its answer ends with a `Z`. */
function join(client: Socket, upstream: Socket, broken: () => void, rules: Rules): void {
  const [asked, answered] = [createFrames('client'), createFrames('server')]
  let strike: Strike | null = null
  let waiting: Buffer[] | null = null

  client.on('data', (bytes) => {
    for (const frame of asked.push(bytes)) {
      if (frame.type === '' && rules.refused(frame.bytes)) {
        client.end(rules.refusal())
        return void upstream.destroy()
      }
      if (frame.type === 'Q' || frame.type === 'P') strike ??= rules.strikeOf(frame)
      if (strike?.fate === 'drop-request') {
        upstream.once('close', strike.struck)
        return broken()
      }
      upstream.write(frame.bytes)
    }
  })

  upstream.on('data', (bytes) => {
    if (client.destroyed) return
    for (const frame of answered.push(bytes)) {
      if (frame.type === 'K' && rules.renames()) frame.bytes.writeInt32BE(1, 5)
      if (strike?.fate === 'drop-reply') {
        if (frame.type !== 'Z') continue
        upstream.once('close', strike.struck)
        return broken()
      }
      if (strike?.fate === 'hold-reply') {
        waiting ??= []
        waiting.push(frame.bytes)
        if (frame.type !== 'Z') continue
        const answer = waiting
        rules.hold(() => void client.write(Buffer.concat(answer)))
        strike.struck()
        strike = waiting = null
        continue
      }
      client.write(frame.bytes)
    }
  })

  client.on('error', broken)
  // What the server said last is still passed on.
  upstream.on('error', () => client.destroySoon())
  client.on('close', () => upstream.end())
  upstream.on('close', () => client.destroySoon())
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
}
