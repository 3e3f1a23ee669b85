import childProcess, { execFile } from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import fs, { existsSync, readFileSync } from 'node:fs'
import fsPromises, { readFile } from 'node:fs/promises'
import http from 'node:http'
import net from 'node:net'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import zlib, { gzip } from 'node:zlib'
import { expect, test } from 'vitest'
import { leakOf, lineAt } from './leaks.ts'

const self = import.meta.filename
const nothing = (): void => {}
const refused = { port: 1, host: '127.0.0.1' }

const leaks: [what: string, call: () => unknown][] = [
  ['fs.existsSync', () => existsSync(self)],
  ['fs.readFileSync', () => readFileSync(self)],
  ['fs.statSync', () => fs.statSync(self)],
  ['fs.readFile', () => fs.readFile(self, nothing)],
  ['fs.realpath.native', () => fs.realpath.native(self, nothing)],
  ['fs.createReadStream', () => fs.createReadStream(self).destroy()],
  ['fs.promises.readFile', () => fs.promises.readFile(self)],
  ['fs.promises.readFile', () => readFile(self)],
  ['fs.promises.stat', () => fsPromises.stat(self)],
  ['net.connect', () => net.connect(refused).on('error', nothing)],
  ['net.connect', () => net.createConnection(refused).on('error', nothing)],
  ['net.connect', () => http.get(refused).on('error', nothing)],
  ['net.Socket.connect', () => new net.Socket().on('error', nothing).connect(refused)],
  ['net.createServer', () => net.createServer()],
  ['net.Server.listen', () => new net.Server().listen(0).close()],
  ['dgram.createSocket', () => dgram.createSocket('udp4').close()],
  ['dns.lookup', () => dns.lookup('127.0.0.1', nothing)],
  ['dns.promises.lookup', () => dns.promises.lookup('127.0.0.1')],
  ['zlib.gzip', () => gzip('a', nothing)],
  ['zlib.deflate', () => promisify(zlib.deflate)('a')],
  ['zlib.createGzip', () => zlib.createGzip().destroy()],
  ['child_process.spawn', () => reaped(childProcess.spawn(process.execPath, ['--version']))],
  ['child_process.spawnSync', () => childProcess.spawnSync(process.execPath, ['--version'])],
  ['child_process.exec', () => reaped(childProcess.exec('exit 0'))],
  ['child_process.execFile', () => promisify(execFile)(process.execPath, ['--version'])],
  ['child_process.fork', () => childProcess.fork('--version', { execArgv: [], silent: true }).kill()],
  ['new Worker()', () => new Worker('', { eval: true }).unref()],
  ['fetch', () => fetch('data:,a')],
]

function reaped(child: childProcess.ChildProcess): void {
  child.on('error', nothing).unref()
}

test.each(leaks)('%s, armed, is a leak at the line that calls it: %s', (what, call) => {
  const leak = leakOf(call)
  expect(leak?.what).toBe(what)
  expect(lineAt(leak?.site ?? '')).toContain(`['${what}', () =>`)
})

test.each<[call: () => unknown]>([
  [() => zlib.gunzipSync(zlib.gzipSync('a'))],
  [() => JSON.parse('{}')],
  [() => Buffer.from('a').toString('base64')],
])('a function of its input is no leak: %s', (call) => {
  expect(leakOf(call)).toBeNull()
})

test('a leak goes through to the real function', () => {
  let text = ''
  expect(leakOf(() => (text = readFileSync(self, 'utf8')))?.what).toBe('fs.readFileSync')
  expect(text).toContain('a leak goes through')
})

test('disarmed, files, processes, sockets and threads work as before', async () => {
  expect(await readFile(self, 'utf8')).toBe(readFileSync(self, 'utf8'))
  const file = fs.openSync(self, 'r')
  expect(await promisify(fs.read)(file, Buffer.alloc(3), 0, 3, 0)).toMatchObject({ bytesRead: 3 })
  fs.closeSync(file)
  expect(fs.realpathSync.native(fs.realpathSync(self))).toBe(fs.realpathSync(self))
  expect((await promisify(execFile)(process.execPath, ['--version'])).stdout.trim()).toBe(process.version)
  expect(zlib.gunzipSync(await promisify(gzip)('a')).toString()).toBe('a')
  expect(await promisify(dns.lookup)('127.0.0.1')).toEqual({ address: '127.0.0.1', family: 4 })
  expect(await (await fetch('data:,a')).text()).toBe('a')

  const server = net.createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const [hello] = (await once(net.connect(port, '127.0.0.1'), 'data')) as [Buffer]
  expect(hello.toString()).toBe('hello')
  server.close()

  const worker = new Worker('require("node:worker_threads").parentPort.postMessage(1)', { eval: true })
  expect(worker).toBeInstanceOf(Worker)
  expect(await once(worker, 'message')).toEqual([1])
  await once(worker, 'exit')
})
