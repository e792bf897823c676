/** Runs of letters and digits, of white space, and single other characters, much as tokenizers of models cut a text. */
const RUNS = /[A-Za-z0-9]+|[^\S\n]+|\n+|[\u0021-\u007e]|\P{ASCII}|\p{Cc}/gu

/**
 * The tokens of a text, from above: for a limit that must hold, while `estimateTokens` is right on average. A tokenizer
 * would take 75 MB of memory.
 */
export function tokensAtMost(text: string): number {
  let sum = 0
  for (const [run] of text.matchAll(RUNS)) sum += tokensOf(run)
  return Math.ceil(sum)
}

/** Measured against the tokenizer of recent models on prose, code, hex, Base64, Chinese, Russian and emoji. */
function tokensOf(run: string): number {
  const code = run.codePointAt(0) ?? 0
  if (code > 0xffff) return 3
  if (code >= 0x2e80) return 1.3
  if (code > 0x7f) return 0.7
  if (/^[A-Za-z0-9]/.test(run)) return tokensOfWord(run)
  // A single space belongs to the next word.
  return run === ' ' ? 0 : Math.ceil(run.length / 8)
}

function tokensOfWord(word: string): number {
  const isPlain = /^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(word)
  if (isPlain) return word.length <= 5 ? 1 : word.length / 3
  // Such as Base64 or a hash.
  return word.length > 20 ? word.length / 1.3 : Math.max(1, word.length / 1.8)
}
