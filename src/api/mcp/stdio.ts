import { createInterface } from 'node:readline'
import { Readable, type Writable } from 'node:stream'
import type { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

/** Serves one client until it closes its end. Nothing else may be written to `output`. */
export async function serveStdio(
  server: McpServer,
  input: Readable = process.stdin,
  output: Writable = process.stdout,
): Promise<void> {
  const ended = new Promise<void>((end) => {
    // The SDK has no events.
    // oxlint-disable-next-line prefer-add-event-listener
    server.server.onclose = end
  })
  await server.connect(new StdioServerTransport(Readable.from(soundLines(input, output)), output))
  await ended
}

/** The lines that are messages. The SDK ignores others, and their sender would wait, so they are answered here. */
async function* soundLines(input: Readable, output: Writable): AsyncGenerator<Buffer> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    const problem = problemOf(line)
    if (problem === null) yield Buffer.from(`${line}\n`)
    else output.write(`${JSON.stringify({ jsonrpc: '2.0', ...problem })}\n`)
  }
}

/** By the codes of JSON-RPC. The id is that of the request, if it can be read. */
function problemOf(line: string): object | null {
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch {
    return { id: null, error: { code: -32_700, message: 'Parse error: a line of the input is not valid JSON.' } }
  }
  const { jsonrpc, method, id, result, error } = Object(message) as Record<string, unknown>
  const isMessage = typeof method === 'string' || (method === undefined && (result ?? error) !== undefined)
  if (jsonrpc === '2.0' && isMessage) return null
  const text = 'Invalid Request: each line must be one message of JSON-RPC 2.0, with a method or a result.'
  const known = typeof id === 'string' || typeof id === 'number' ? id : null
  return { id: known, error: { code: -32_600, message: text } }
}
