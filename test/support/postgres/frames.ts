/** Cuts the bytes of one direction of a connection into the messages of PostgreSQL's protocol. */
export interface Frames {
  push(bytes: Buffer): Frame[]
}

export interface Frame {
  /** Its letter; '' for the greeting of a client, which has none. */
  readonly type: string
  readonly bytes: Buffer
}

export function createFrames(from: 'client' | 'server'): Frames {
  let rest: Buffer = Buffer.alloc(0)
  let greeted = from === 'server'
  return {
    push: (bytes) => {
      rest = Buffer.concat([rest, bytes])
      const frames: Frame[] = []
      for (;;) {
        const letter = greeted ? 1 : 0
        if (rest.length < letter + 4) return frames
        const length = letter + rest.readInt32BE(letter)
        if (rest.length < length) return frames
        frames.push({
          type: greeted ? String.fromCharCode(rest[0] as number) : '',
          bytes: rest.subarray(0, length),
        })
        greeted = true
        rest = rest.subarray(length)
      }
    },
  }
}

/** As a server, or a pooler, refuses a client. */
export function fatalError(sqlState: string, message: string): Buffer {
  const fields = `SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`
  const frame = Buffer.alloc(5 + Buffer.byteLength(fields))
  frame.write('E')
  frame.writeInt32BE(4 + Buffer.byteLength(fields), 1)
  frame.write(fields, 5)
  return frame
}
