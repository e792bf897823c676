/** The most that one answer may take of a model's context. */
export const ANSWER_TOKENS_MAX = 6000

/** Runs of letters and digits, of white space, and single other characters, much as tokenizers of models cut a text. */
const RUNS = /[A-Za-z0-9]+|[^\S\n]+|\n+|[\u0021-\u007e]|\P{ASCII}|\p{Cc}/gu

/** Estimates the tokens of a text from above, without a tokenizer, which would take 75 MB of memory. */
export function estimateTokens(text: string): number {
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

/** What a new line takes, and the mark that each quoted line begins with. */
const QUOTED_LINE_TOKENS = 2

/**
 * The longest beginning of a text, from a place on, that stays within a budget when it is quoted.
 * @returns the place after its last character
 */
export function endWithin(text: string, from: number, tokens: number): number {
  let left = tokens
  RUNS.lastIndex = 0
  const pattern = new RegExp(RUNS.source, RUNS.flags)
  pattern.lastIndex = from
  let end = from
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const lines = match[0].startsWith('\n') ? match[0].length : 0
    const cost = tokensOf(match[0]) + lines * QUOTED_LINE_TOKENS
    if (cost > left) {
      // A very long run is cut in its middle.
      return match[0].length > 40 ? match.index + Math.floor((left / cost) * match[0].length) : match.index
    }
    left -= cost
    end = pattern.lastIndex
  }
  return end
}

/** An answer that is built line by line, as long as it fits. Room for its end is kept. */
export class BoundedText {
  readonly #lines: string[] = []
  #left: number

  /** @param reserved tokens for what is added by `end` */
  constructor(reserved: number, max = ANSWER_TOKENS_MAX) {
    this.#left = max - reserved
  }

  get left(): number {
    return this.#left
  }

  /** Adds it whole, or not at all. @returns whether it fitted */
  add(text: string): boolean {
    const cost = estimateTokens(text) + 1
    if (cost > this.#left) return false
    this.#left -= cost
    this.#lines.push(text)
    return true
  }

  /** Adds texts until one does not fit. @returns how many fitted */
  addAll(texts: Iterable<string>): number {
    let count = 0
    for (const text of texts) {
      if (!this.add(text)) break
      count += 1
    }
    return count
  }

  /** Adds the last lines, which room was reserved for. */
  end(...lines: readonly string[]): string {
    return [...this.#lines, ...lines].join('\n')
  }
}
