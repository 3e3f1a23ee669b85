// Ambient chance: Math.random, node:crypto and web crypto. Hashes, HMACs and ciphers are functions of their
// input and stay free; what answers from the thread pool does so in real time and is a leak like a timer.
import crypto from 'node:crypto'
import { dress, type Patcher } from './patcher.ts'
import { report } from './watch.ts'

const drawn =
  /^(?:random|pseudoRandomBytes$|p?rng$|generate(?:Key|KeyPair|Prime)(?:Sync)?$|checkPrime|encapsulate$)/
const pooled = /^(?:pbkdf2|scrypt|hkdf|argon2)$/

export function patchChance(patcher: Patcher): void {
  patchMathRandom(patcher)
  patcher.callsOf(crypto, 'crypto', drawn)
  patcher.callsOf(crypto, 'crypto', pooled)
  // `crypto.getRandomValues` and `crypto.subtle` only forward to these, which `globalThis.crypto` shares.
  const web = Object.getPrototypeOf(crypto.webcrypto) as object
  patcher.calls(web, 'getRandomValues', 'crypto.getRandomValues')
  patcher.calls(web, 'randomUUID', 'crypto.randomUUID')
  patcher.callsOf(Object.getPrototypeOf(crypto.webcrypto.subtle) as object, 'crypto.subtle', /./)
}

function patchMathRandom(patcher: Patcher): void {
  const { watch } = patcher
  const realRandom = Math.random
  patcher.replace(Math, 'random', (real) => {
    const random = (): number => (watch.armed ? armedRandom() : realRandom())
    const armedRandom = (): number => {
      if (watch.source !== null) return watch.source.random()
      report(watch, 'Math.random', random)
      return realRandom()
    }
    dress(random, real)
    return random
  })
}
