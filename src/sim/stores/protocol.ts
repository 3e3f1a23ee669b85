import { type Value, decoded } from '../../stores/postgres/database.ts'

/**
 * The part of PostgreSQL's protocol that prepared statements need, over a database that answers at once: many
 * messages go in as one, and what comes out is read without a copy. A driver's own parser costs as much as the
 * statement.
 */
export interface PreparedStatements {
  /** Runs a statement, which is parsed and planned the first time only. Throws what the server says. */
  run(text: string, params: readonly (string | null)[]): Value[][]
}

/** What the server says, as drivers tell it. */
class ServerError extends Error {
  readonly severity: string
  readonly code: string
  constructor(fields: ReadonlyMap<string, string>) {
    super(fields.get('M') ?? 'an error without a message')
    this.severity = fields.get('V') ?? 'ERROR'
    this.code = fields.get('C') ?? 'XX000'
  }
}

interface Prepared {
  readonly name: string
  /** Types of the columns of its rows. */
  readonly types: readonly number[]
}

const ready = 'Z'.charCodeAt(0)

export function createStatements(exchange: (message: Uint8Array) => Uint8Array): PreparedStatements {
  const known = new Map<string, Prepared>()
  const out = createWriter()

  function prepare(text: string): Prepared {
    const name = `s${known.size}`
    out.begin('P').text(name).text(text).int16(0).end()
    out.begin('D').byte('S').text(name).end()
    out.begin('S').end()
    let types: readonly number[] = []
    read(exchange(out.take()), (kind, at) => {
      if (kind === 'T') types = at.types()
    })
    const prepared = { name, types }
    known.set(text, prepared)
    return prepared
  }

  return {
    run: (text, params) => {
      const { name, types } = known.get(text) ?? prepare(text)
      out.begin('B').text('').text(name).int16(0).int16(params.length)
      for (const param of params) out.value(param)
      out.int16(0).end()
      out.begin('E').text('').int32(0).end()
      out.begin('S').end()
      const rows: Value[][] = []
      read(exchange(out.take()), (kind, at) => {
        if (kind === 'D') rows.push(at.row(types))
      })
      return rows
    },
  }
}

/** Goes through an answer, which must be whole; throws the error in it after its end. */
function read(answer: Uint8Array, message: (kind: string, at: Reader) => void): void {
  const reader = createReader(answer)
  let error: ServerError | null = null
  let kind = 0
  for (kind = reader.next(); kind !== 0; kind = reader.next()) {
    if (kind === ready) break
    const letter = String.fromCharCode(kind)
    if (letter === 'E') error = new ServerError(reader.fields())
    else message(letter, reader)
  }
  if (error) throw error
  if (kind !== ready) throw new TypeError('the answer of the database ended before its end')
}

interface Writer {
  begin(kind: string): Writer
  byte(letter: string): Writer
  int16(value: number): Writer
  int32(value: number): Writer
  /** Ended by a zero. */
  text(text: string): Writer
  /** A parameter, after its length. */
  value(text: string | null): Writer
  end(): Writer
  /** All messages since the last time. */
  take(): Uint8Array
}

function createWriter(): Writer {
  let bytes = Buffer.allocUnsafe(65_536)
  let [length, start] = [0, 0]
  const room = (more: number): void => {
    if (length + more <= bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (length + more))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }
  const put = (text: string, at: number): number => {
    // No character takes more than three bytes for each of its units.
    room(at - length + 3 * text.length + 1)
    return bytes.write(text, at, 'utf8')
  }
  const writer: Writer = {
    begin: (kind) => {
      room(5)
      length = bytes.writeUInt8(kind.charCodeAt(0), length)
      start = length
      length += 4
      return writer
    },
    byte: (letter) => {
      room(1)
      length = bytes.writeUInt8(letter.charCodeAt(0), length)
      return writer
    },
    int16: (value) => {
      room(2)
      length = bytes.writeInt16BE(value, length)
      return writer
    },
    int32: (value) => {
      room(4)
      length = bytes.writeInt32BE(value, length)
      return writer
    },
    text: (text) => {
      length += put(text, length)
      length = bytes.writeUInt8(0, length)
      return writer
    },
    value: (text) => {
      if (text === null) return writer.int32(-1)
      const size = put(text, length + 4)
      bytes.writeInt32BE(size, length)
      length += 4 + size
      return writer
    },
    end: () => {
      bytes.writeInt32BE(length - start, start)
      return writer
    },
    take: () => {
      const message = bytes.subarray(0, length)
      length = 0
      return message
    },
  }
  return writer
}

interface Reader {
  /** Goes to the next message and answers its kind, 0 for none. */
  next(): number
  fields(): Map<string, string>
  types(): number[]
  row(types: readonly number[]): Value[]
}

function createReader(answer: Uint8Array): Reader {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength)
  /** Of this message and of the next. */
  let [at, following] = [0, 0]
  const textEnd = (): number => bytes.indexOf(0, at)
  return {
    next: () => {
      at = following
      if (at + 5 > bytes.length) return 0
      const kind = bytes.readUInt8(at)
      following = at + 1 + bytes.readInt32BE(at + 1)
      at += 5
      return kind
    },
    fields: () => {
      const fields = new Map<string, string>()
      for (let kind = bytes.readUInt8(at); kind !== 0; kind = bytes.readUInt8(at)) {
        at += 1
        const end = textEnd()
        fields.set(String.fromCharCode(kind), bytes.toString('utf8', at, end))
        at = end + 1
      }
      return fields
    },
    types: () => {
      const types: number[] = []
      const columns = bytes.readInt16BE(at)
      at += 2
      for (let n = 0; n < columns; n++) {
        // After the name: table, column, type, size, modifier, format.
        at = textEnd() + 7
        types.push(bytes.readInt32BE(at))
        at += 12
      }
      return types
    },
    row: (types) => {
      const row: Value[] = []
      at += 2
      for (const type of types) {
        const size = bytes.readInt32BE(at)
        at += 4
        if (size < 0) row.push(null)
        else {
          row.push(decoded(type, bytes.toString('utf8', at, at + size)))
          at += size
        }
      }
      return row
    },
  }
}
