import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'
import { BytePairs } from './byte-pairs.ts'
import { PIECE_LENGTH, tokenPieces } from './token-pieces.ts'
import { readTokenRanks } from './token-ranks.ts'

/**
 * The token list and the word pattern come from the library. Its own encoder is not used: it stores the tokens as strings,
 * which takes 45 MB more, and a cache of merges. Our own merging takes half the time.
 */
const listPath = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken')
/** Number of tokens of the encoding, without special tokens such as the end of a text, which are not in the list. */
const TOKENS = 199_998

/** Counts tokens of the encoding o200k_base. An instance takes 6 MB. */
export class TokenCounter {
  readonly #pairs = new BytePairs(readTokenRanks(readFileSync(listPath), TOKENS))
  readonly #encoder = new TextEncoder()
  /** A UTF-16 unit takes at most three bytes in UTF-8. */
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
   * Counts one piece per step, so the caller can do other work in between. Special tokens in a chat's text count as ordinary
   * words.
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
