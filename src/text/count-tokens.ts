import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { tokenPieces } from './token-pieces.ts'

/** A chat may speak of a tokenizer's own marks: they are words here as any others. */
const plainText = { disallowedSpecial: new Set<string>() }

/**
 * Tokens of a text by the encoding o200k_base, a piece at a time, so that whoever counts can do other things in between.
 * Importing this file takes 90 MB.
 */
export function* countingTokens(text: string): Generator<void, number> {
  let tokens = 0
  for (const piece of tokenPieces(text)) {
    tokens += countTokens(piece, plainText)
    yield
  }
  return tokens
}
