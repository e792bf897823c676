import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** An answer as it was sent. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawOptions {
  /** Ends the sending side after the last byte. */
  readonly isHalfClosed?: boolean
  /** Stops waiting after this many answers. It also stops if the server closes the connection. */
  readonly answersMax?: number
  readonly withinMs?: number
}

export interface RawOutcome {
  readonly answers: readonly RawAnswer[]
  /** Bytes that do not belong to an answer. */
  readonly rest: string
  readonly isClosed: boolean
}

/** Sends exactly these bytes, and reads whatever comes back. */
export function sendRaw(port: number, bytes: string | Buffer, options: RawOptions = {}): Promise<RawOutcome> {
  const { isHalfClosed = false, answersMax = 1, withinMs = 60_000 } = options
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const chunks: Buffer[] = []
    let isClosed = false
    const finish = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ ...readAnswers(Buffer.concat(chunks).toString('latin1')), isClosed })
    }
    const timer = setTimeout(finish, withinMs)
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      const { answers, rest } = readAnswers(Buffer.concat(chunks).toString('latin1'))
      if (answers.length >= answersMax && rest === '') finish()
    })
    socket.on('end', () => {
      isClosed = true
      finish()
    })
    socket.on('error', () => {
      isClosed = true
      finish()
    })
    write(socket, bytes, isHalfClosed)
  })
}

function write(socket: Socket, bytes: string | Buffer, isHalfClosed: boolean): void {
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  if (isHalfClosed) socket.end()
}

/** Splits bytes into answers. An answer without an end counts with the part that has arrived. */
function readAnswers(text: string): Pick<RawOutcome, 'answers' | 'rest'> {
  const answers: RawAnswer[] = []
  let rest = text
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.slice(0, Math.max(end, 0)).split('\r\n')
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]
    if (end < 0 || status === undefined) return { answers, rest }
    const headers = Object.fromEntries(lines.map((line) => [line.split(':')[0]?.toLowerCase() ?? '', valueOf(line)]))
    const body = readBody(rest.slice(end + 4), headers, status)
    if (body === null) return { answers, rest }
    answers.push({ status: Number(status), headers, body: body.text })
    rest = body.rest
  }
}

const valueOf = (line: string): string => line.slice(line.indexOf(':') + 1).trim()

interface Body {
  readonly text: string
  readonly rest: string
}

function readBody(text: string, headers: RawAnswer['headers'], status: string): Body | null {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(text)
  // Without a length the body ends with the connection.
  const length = headers['content-length'] === undefined ? text.length : Number(headers['content-length'])
  if (status === '304' || status === '204') return { text: '', rest: text }
  return text.length < length ? null : { text: text.slice(0, length), rest: text.slice(length) }
}

function readChunks(text: string): Body | null {
  let body = ''
  let rest = text
  for (;;) {
    const [size = ''] = rest.split('\r\n', 1)
    const length = Number.parseInt(size, 16)
    const from = size.length + 2
    if (Number.isNaN(length) || rest.length < from + length + 2) return null
    body += rest.slice(from, from + length)
    rest = rest.slice(from + length + 2)
    if (length === 0) return { text: body, rest }
  }
}
