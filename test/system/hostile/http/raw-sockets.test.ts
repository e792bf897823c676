import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readJson, writtenOut } from '../../../helpers/cases.ts'
import { waitUntil } from '../../../helpers/wait-until.ts'
import { faultsOf } from './judge.ts'
import { sendRaw } from './raw.ts'
import { AttackedServer } from './server.ts'

/** A request that no client library sends. `{host}` is the server's own. */
interface RawShape {
  readonly what: string
  readonly bytes: string
  /** The allowed answers. `closed` if the connection may end without an answer. */
  readonly allowed: readonly (number | 'closed')[]
  /** The code of the refusal. */
  readonly code?: string
  readonly isHalfClosed?: boolean
  readonly answersMax?: number
}

const rawShapes = writtenOut(readJson(import.meta.url, 'raw-shapes.json') as readonly RawShape[])

let server: AttackedServer
beforeAll(async () => {
  server = await AttackedServer.start()
})
afterAll(() => server?.stop())

let reportedErrors = 0

/** The faults after an attack. Empty if there are none. */
async function newFaults(): Promise<string[]> {
  // Each fault is reported once, by the test that caused it.
  const errors = server.errors.slice(reportedErrors)
  reportedErrors += errors.length
  return (await server.target.isAlive()) ? errors : [...errors, 'it is dead']
}

test.each(rawShapes)('$what is answered correctly, or refused with a problem', async (shape) => {
  const { what, bytes, allowed, code, isHalfClosed = false, answersMax = 1 } = shape
  const { port, local } = server.target
  const { answers, rest, isClosed } = await sendRaw(port, bytes.replaceAll('{host}', local), {
    isHalfClosed,
    answersMax,
  })
  const statuses = answers.map(({ status }) => status)
  expect([what, statuses.filter((status) => !allowed.includes(status)), rest]).toEqual([what, [], ''])
  expect(statuses.length > 0 || (allowed.includes('closed') && isClosed)).toBe(true)
  expect(answersMax === 1 || statuses.length === answersMax).toBe(true)
  // A refusal does not grow with what it refuses.
  const refusal = code === undefined ? null : (answers[0]?.body ?? '')
  expect(refusal === null || (JSON.parse(refusal) as { code: string }).code === code).toBe(true)
  expect(refusal?.length ?? 0).toBeLessThan(5000)
  expect(answers.flatMap((answer) => faultsOf(answer, { what, method: 'GET', isForeign: false }))).toEqual([])
  expect(await newFaults()).toEqual([])
})

test('bytes after a body are not treated as a request', async () => {
  const smuggled = rawShapes.filter(({ bytes }) => bytes.includes('Host: evil.com'))
  for (const { what, bytes } of smuggled) {
    const { answers } = await sendRaw(server.target.port, bytes.replaceAll('{host}', server.target.local), {
      answersMax: 9,
      withinMs: 1500,
    })
    const served = answers.filter(({ status }) => status === 200).length
    expect([what, served]).toEqual([what, what === 'a good one behind a bad one' ? 1 : 0])
  }
})

const open = async (bytes: string): Promise<Socket> => {
  const socket = connect({ port: server.target.port, host: '127.0.0.1' })
  // Without reading, the end would not be noticed.
  socket.on('error', () => undefined).resume()
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

test('an endless body in chunks is cut off, and takes no memory', async () => {
  const head =
    'POST /api/sync HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  // More than 16 MB.
  const bytes = head.replace('{host}', server.target.local) + chunk.repeat(300)
  const before = server.megabytes
  // Several times: the client still sends when the answer comes, and closing too early sometimes loses the answer.
  for (let round = 0; round < 20; round += 1) {
    const { answers } = await sendRaw(server.target.port, bytes)
    expect(answers.map(({ status }) => status)).toEqual([413])
  }
  expect(server.megabytes - before).toBeLessThan(100)
  expect(await newFaults()).toEqual([])
})

test('three hundred clients with incomplete requests delay nobody, and are disconnected', async () => {
  const starts = [
    'GET /api/health HTTP/1.1\r\nHost: ',
    `POST /api/sync HTTP/1.1\r\nHost: ${server.target.local}\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n{`,
    '',
  ]
  const slow = await Promise.all(Array.from({ length: 300 }, (_, at) => open(starts[at % starts.length] ?? '')))
  const before = server.megabytes
  for (let round = 0; round < 20; round += 1) {
    for (const socket of slow) if (socket.writable && round % 5 === 0) socket.write('a')
    expect(await newFaults()).toEqual([])
  }
  expect(server.megabytes - before).toBeLessThan(100)
  const unfinished = slow.filter((_, at) => at % starts.length === 0)
  await waitUntil('those without a whole head to be sent away', () => unfinished.every(({ destroyed }) => destroyed), {
    everyMs: 100,
  })
  for (const socket of slow) socket.destroy()
  expect(await newFaults()).toEqual([])
})

test('event streams that nobody reads end with their clients', async () => {
  const head = `GET /api/events HTTP/1.1\r\nHost: ${server.target.local}\r\n\r\n`
  const streams = await Promise.all(Array.from({ length: 100 }, () => open(head)))
  expect(await newFaults()).toEqual([])
  for (const socket of streams) socket.destroy()
  expect(await newFaults()).toEqual([])
})

test('garbage after a request does not break the answer that is being sent', async () => {
  const head = `GET /api/events HTTP/1.1\r\nHost: ${server.target.local}\r\n\r\n`
  const socket = await open(head)
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => (received += text))
  await waitUntil('the first event', () => received.includes('event: status'))
  socket.write('nonsense\r\n\r\n')
  await waitUntil('the end of the connection', () => socket.destroyed)
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  expect(await newFaults()).toEqual([])
})
