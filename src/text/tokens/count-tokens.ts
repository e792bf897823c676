import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'
import { BytePairs } from './byte-pairs.ts'
import { PIECE_LENGTH, tokenPieces } from './token-pieces.ts'
import { readTokenRanks } from './token-ranks.ts'

/**
 * The tokens and the pattern of words are the library's. It would hold the tokens as strings, in 45 MB more, and what it has
 * merged before; without it merging takes half the time.
 */
const listPath = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken')
/** In the encoding. Its own marks, such as that of a text's end, are not in the list. */
const TOKENS = 199_998

/** Counts tokens by the encoding o200k_base. One holds 6 MB. */
export class TokenCounter {
  readonly #pairs = new BytePairs(readTokenRanks(readFileSync(listPath), TOKENS))
  readonly #encoder = new TextEncoder()
  /** No sign of UTF-16 takes more than three bytes of UTF-8. */
  readonly #bytes = new Uint8Array(3 * PIECE_LENGTH)

  #countPiece(piece: string): number {
    const { written } = this.#encoder.encodeInto(piece, this.#bytes)
    const isAscii = written === piece.length
    let tokens = 0
    let from = 0
    for (const [word] of piece.matchAll(O200K_TOKEN_SPLIT_REGEX)) {
      const to = from + (isAscii ? word.length : Buffer.byteLength(word))
      tokens += this.#pairs.count(this.#bytes, from, to)
      from = to
    }
    return tokens
  }

  /**
   * A piece at a time, so that whoever counts can do other things in between. A chat may speak of a tokenizer's own marks:
   * they are words here as any others.
   */
  *counting(text: string): Generator<void, number> {
    let tokens = 0
    for (const piece of tokenPieces(text)) {
      tokens += this.#countPiece(piece)
      yield
    }
    return tokens
  }
}
