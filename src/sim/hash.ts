/** 32-bit hash of a text by its UTF-16 units: the same in every process. */
export function hashText(text: string, seed: number): number {
  let hash = seed ^ text.length
  for (let k = 0; k < text.length; k++) {
    hash = Math.imul(hash ^ text.charCodeAt(k), 0x01000193)
    hash ^= hash >>> 15
  }
  return finish(hash)
}

/** Of a text that only its sameness counts of; 0 for none. */
export function digest(text: string | null): number {
  return text === null ? 0 : hashText(text, 0x2545f491) || 1
}

export function finish(hash: number): number {
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) | 0
}

/** A rolling 128-bit hash over values: four 32-bit lanes. It walks plain data; keys count in their order. */
export interface RollingHash {
  readonly number: (value: number) => void
  readonly text: (value: string) => void
  readonly value: (value: unknown) => void
  /** Of values that are always in this order, under these keys: their keys do not count. */
  readonly row: (row: object) => void
  /** 32 hexadecimal digits. */
  readonly digest: () => string
}

const bits = new DataView(new ArrayBuffer(8))

export function createHash(): RollingHash {
  const texts = new Map<string, { readonly x: number; readonly y: number }>()
  let a = 0x243f6a88
  let b = 0x85a308d3 | 0
  let c = 0x13198a2e
  let d = 0x03707344

  function mix(x: number): void {
    a = Math.imul(a ^ x, 0x9e3779b1)
    b = Math.imul((b + a) ^ (x >>> 7), 0x85ebca77)
    c = Math.imul((c ^ (b >>> 15)) + x, 0xc2b2ae3d)
    d = Math.imul((d + (c >>> 13)) ^ (x << 5), 0x27d4eb2f)
    a ^= d >>> 16
  }

  function number(value: number): void {
    if ((value | 0) === value) return mix(value)
    bits.setFloat64(0, value)
    mix(bits.getInt32(0))
    mix(bits.getInt32(4) ^ 0x5bd1e995)
  }

  function text(value: string): void {
    let pair = texts.get(value)
    if (!pair) {
      pair = { x: hashText(value, 0x811c9dc5), y: hashText(value, 0x3c6ef372) }
      texts.set(value, pair)
    }
    mix(pair.x)
    mix(pair.y)
  }

  function value(of: unknown): void {
    switch (typeof of) {
      case 'number':
        return number(of)
      case 'string':
        return text(of)
      case 'boolean':
        return mix(of ? 0x6a09e667 : 0x3c6ef372)
      case 'object':
        return of === null ? mix(0x1f83d9ab) : items(of)
      default:
        return mix(0x5be0cd19)
    }
  }

  function items(of: object): void {
    if (Array.isArray(of)) {
      mix(0x510e527f)
      mix(of.length)
      for (const item of of) value(item)
      return
    }
    mix(0x3587272b)
    for (const key in of) {
      text(key)
      value((of as Record<string, unknown>)[key])
    }
    // An end, because objects have no length: {a: {b: 1}, c: 2} is not {a: {b: 1, c: 2}}.
    mix(0x0fc19dc6)
  }

  function row(of: object): void {
    for (const key in of) value((of as Record<string, unknown>)[key])
    mix(0x0fc19dc6)
  }

  return {
    number,
    text,
    value,
    row,
    digest: () => [a, b, c, d].map((lane) => (finish(lane) >>> 0).toString(16).padStart(8, '0')).join(''),
  }
}
