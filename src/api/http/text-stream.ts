import { setImmediate as nextTurn } from 'node:timers/promises'

/** UTF-16 units per piece. Making one takes a few milliseconds, during which no other request is answered. */
const PIECE_LENGTH = 256 * 1024

/**
 * Text as the body of a response, made as fast as the client reads. Other requests are answered between two pieces: a
 * client on the same machine reads each piece at once, and a long text would block all others until its end.
 * @param onFault called with an error that ends the text early. The connection is then reset, so that the client does
 * not take a part for the whole
 */
export function textStream(stretches: Iterable<string>, onFault: (error: unknown) => void): ReadableStream<Uint8Array> {
  const pieces = piecesOf(stretches, onFault)
  return new ReadableStream({
    async pull(stream) {
      const { done, value } = await pieces.next()
      if (done === true) stream.close()
      else stream.enqueue(value)
    },
    cancel: async () => void (await pieces.return(undefined)),
  })
}

async function* piecesOf(stretches: Iterable<string>, onFault: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let piece = ''
  try {
    for (const stretch of stretches) {
      piece += stretch
      if (piece.length < PIECE_LENGTH) continue
      yield encoder.encode(piece)
      piece = ''
      await nextTurn()
    }
  } catch (error) {
    onFault(error)
    // The server prints this error. A SyntaxError of `JSON.parse` would quote the chat.
    throw error instanceof SyntaxError ? new Error('the text ended early') : error
  }
  yield encoder.encode(piece)
}
