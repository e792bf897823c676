import { StreamingApi } from 'hono/utils/stream'

/** Made without a pause: some milliseconds of work, in which nobody else is answered. */
const PIECE_LENGTH = 256 * 1024

/**
 * Text as the body of a response, made as fast as it is taken. Between two pieces others have their turn: a reader on
 * the same machine takes each piece at once, and a long text would keep everybody waiting until its end.
 * @param stretches an empty one is a pause, too
 * @param onFault hears of an error that breaks the text off; the connection then breaks off too, so that half a
 * text does not pass for the whole
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
    // The server prints what it is given, and what is no JSON is quoted by its error.
    const told = error instanceof SyntaxError ? new Error('the text broke off') : error
    for (const controller of controllers) controller.error(told)
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
