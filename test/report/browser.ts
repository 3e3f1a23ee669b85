// Chromium without a window, spoken to through a pipe in its own protocol: no package, no port.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** The command, or undefined where there is none. */
export function chromium(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    } catch {
      continue
    }
  }
  return undefined
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

export interface Page {
  /** Everything that the page complained of: exceptions, errors on its console, breaches of its policy. */
  readonly complaints: readonly string[]
  /** The URLs of what it asked for. */
  readonly requests: readonly string[]
  readonly open: (url: string) => Promise<void>
  /** The value of an expression in the page. */
  readonly value: <T>(expression: string) => Promise<T>
  readonly press: (key: string) => Promise<void>
  readonly resize: (width: number, height: number) => Promise<void>
  readonly close: () => Promise<void>
}

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>

export async function openPage(command: string): Promise<Page> {
  const home = mkdtempSync(path.join(tmpdir(), 'holdfast-chromium-'))
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-dev-shm-usage',
  ]
  const child = spawn(
    command,
    [...flags, `--user-data-dir=${home}`, '--remote-debugging-pipe', 'about:blank'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    },
  )
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const complaints: string[] = []
  const requests: string[] = []
  const loads: (() => void)[] = []
  const connection = connect(child, (method, params) => {
    if (method === 'Network.requestWillBeSent') requests.push((params['request'] as { url: string }).url)
    if (method === 'Page.loadEventFired') loads.shift()?.()
    const complains =
      method === 'Runtime.exceptionThrown' ||
      method === 'Log.entryAdded' ||
      method === 'Page.javascriptDialogOpening' ||
      (method === 'Runtime.consoleAPICalled' && params['type'] === 'error')
    if (complains) complaints.push(JSON.stringify(params))
  })
  const { targetInfos } = (await connection('Target.getTargets')) as {
    targetInfos: { targetId: string; type: string }[]
  }
  const targetId = targetInfos.find(({ type }) => type === 'page')?.targetId
  const attached = await connection('Target.attachToTarget', { targetId, flatten: true })
  const send: Send = (method, params) => connection(method, params, attached['sessionId'] as string)
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await send(`${domain}.enable`)
  return {
    complaints,
    requests,
    open: async (url) => {
      const loaded = new Promise<void>((resolve) => loads.push(resolve))
      await send('Page.navigate', { url })
      await loaded
    },
    value: async <T>(expression: string) => {
      const answer = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
      if (answer['exceptionDetails']) throw new Error(JSON.stringify(answer['exceptionDetails']))
      return (answer['result'] as { value: T }).value
    },
    press: async (key) => {
      for (const type of ['keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, key })
    },
    resize: async (width, height) => {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
    },
    close: async () => {
      await connection('Browser.close').catch(() => child.kill('SIGKILL'))
      await exited
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Messages end with a NUL; answers bear the number of what they answer. */
function connect(
  child: ChildProcess,
  told: (method: string, params: Readonly<Record<string, unknown>>) => void,
): (method: string, params?: object, sessionId?: string) => Promise<Record<string, unknown>> {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const waiting = new Map<
    number,
    { resolve: (value: Record<string, unknown>) => void; reject: (error: Error) => void }
  >()
  let number = 0
  let rest = Buffer.alloc(0)
  output.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const message = JSON.parse(rest.subarray(0, end).toString()) as Message
      rest = rest.subarray(end + 1)
      if (message.method) told(message.method, message.params ?? {})
      const asked = waiting.get(message.id ?? -1)
      waiting.delete(message.id ?? -1)
      if (message.error) asked?.reject(new Error(message.error.message))
      else asked?.resolve((message.result ?? {}) as Record<string, unknown>)
    }
  })
  child.once('error', fail)
  child.once('close', () => fail(new Error('the browser has ended')))
  function fail(error: Error): void {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  input.on('error', fail)
  return (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      const id = ++number
      waiting.set(id, { resolve, reject })
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    })
}
