import { isUtf8 } from 'node:buffer'

/** Longer than any row of Cursor's that was ever met, as a line; what claims to be longer is not unpacked to its end. */
export const LINE_BYTES_MAX = 128 * 1024 * 1024
const LINE_FEED = 0x0a
const BRACE = 0x7b

/** Cuts a text that comes in pieces into its lines; holds no more of it than the line that has begun. */
export class LineCutter {
  #begun: Buffer[] = []
  #length = 0

  /** To be called behind the last piece. @throws Error where a line is not ended */
  end(): void {
    if (this.#length > 0) throw new Error('its last line is cut off')
  }

  /** @returns the lines that end in this piece, without their line feeds  @throws Error that says what is wrong */
  *cut(piece: Buffer): Generator<string> {
    let start = 0
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      yield textOf([...this.#begun, piece.subarray(start, end)])
      this.#begun = []
      this.#length = 0
      start = end + 1
    }
    if (start === piece.length) return
    this.#begun.push(piece.subarray(start))
    this.#length += piece.length - start
    if (this.#length > LINE_BYTES_MAX) throw new Error('a line of it is longer than any message')
    if (this.#begun[0]?.[0] !== BRACE) throw new Error('a line of it is not what a chat or a message begins with')
  }
}

function textOf(pieces: readonly Buffer[]): string {
  const [first] = pieces
  const line = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  if (!isUtf8(line)) throw new Error('it is not UTF-8')
  return line.toString()
}
