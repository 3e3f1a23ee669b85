// The world outside: files, sockets, name lookups, compression on the thread pool, processes, threads.
// http, https and tls end in the two socket methods guarded here, so they need not be loaded to be seen.
import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import net from 'node:net'
import workerThreads from 'node:worker_threads'
import zlib from 'node:zlib'
import type { Patcher } from './patcher.ts'

/** Leaves out classes (`fs.Stats`) and what is private by convention (`fs._toUnixTimestamp`). */
const functions = /^[a-z]/

export function patchIo(patcher: Patcher): void {
  patcher.callsOf(fs, 'fs', functions)
  patcher.callsOf(fs.promises, 'fs.promises', functions)
  patcher.callsOf(net, 'net', /^(?:connect|createConnection|createServer)$/)
  patcher.calls(net.Socket.prototype, 'connect', 'net.Socket.connect')
  patcher.calls(net.Server.prototype, 'listen', 'net.Server.listen')
  patcher.calls(dgram, 'createSocket', 'dgram.createSocket')
  patcher.callsOf(dns, 'dns', /^(?:lookup|resolve|reverse)/)
  patcher.callsOf(dns.promises, 'dns.promises', /^(?:lookup|resolve|reverse)/)
  // The Sync ones are functions of their input.
  patcher.callsOf(zlib, 'zlib', /^(?!crc32$)[a-z].*(?<!Sync)$/)
  patcher.callsOf(childProcess, 'child_process', functions)
  patcher.constructions(workerThreads, 'Worker')
  patcher.calls(globalThis, 'fetch', 'fetch')
}
