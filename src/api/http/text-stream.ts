import { StreamingApi } from 'hono/utils/stream'

/** UTF-16 units per piece. Making one takes a few milliseconds, during which no other request is answered. */
const PIECE_LENGTH = 256 * 1024

/**
 * Text as the body of a response, made as fast as the client reads. Other requests are answered between two pieces: a
 * client on the same machine reads each piece at once, and a long text would block all others until its end.
 * @param stretches an empty one also pauses
 * @param onFault called with an error that ends the text early. The connection is then reset, so that the client does
 * not take a part for the whole
 */
export function textStream(
  stretches: Iterable<string> | AsyncIterable<string>,
  onFault: (error: unknown) => void,
): ReadableStream {
  const controllers: TransformStreamDefaultController[] = []
  const { readable, writable } = new TransformStream({ start: (controller) => void controllers.push(controller) })
  const out = new StreamingApi(writable, readable)
  send(stretches, out).catch((error: unknown) => {
    onFault(error)
    // The server prints this error. A SyntaxError of `JSON.parse` would quote the chat.
    const printable = error instanceof SyntaxError ? new Error('the text ended early') : error
    for (const controller of controllers) controller.error(printable)
  })
  return out.responseReadable
}

async function send(stretches: Iterable<string> | AsyncIterable<string>, out: StreamingApi): Promise<void> {
  for await (const piece of piecesOf(stretches)) {
    if (piece !== '') await out.write(piece)
    if (out.aborted) return
    await out.sleep(0)
  }
  await out.close()
}

async function* piecesOf(stretches: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let piece = ''
  for await (const stretch of stretches) {
    piece += stretch
    if (stretch !== '' && piece.length < PIECE_LENGTH) continue
    yield piece
    piece = ''
  }
  yield piece
}
