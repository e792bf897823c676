import { tokensAtMost } from '../../text/tokens/tokens-at-most.ts'
import { nextCall, quoted } from './tool.ts'

/** The most that one answer may take of a model's context. */
const ANSWER_TOKENS_MAX = 6000

/** For what most answers end with. */
const END_TOKENS = 300

/** No token has more characters, so no more of a text can fit. */
const TOKEN_LENGTH_MAX = 10

/**
 * The longest beginning of a text, from a place on, that stays within a budget when it is quoted.
 * @returns the place after its last character
 */
export function endWithin(text: string, from: number, tokens: number): number {
  let [low, high] = [from, Math.min(text.length, from + tokens * TOKEN_LENGTH_MAX)]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (tokensAtMost(quoted(text.slice(from, middle))) <= tokens) low = middle
    else high = middle - 1
  }
  // A character of two units is not divided.
  return low > from && /[\ud800-\udbff]/.test(text.charAt(low - 1)) ? low - 1 : low
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
    const cost = tokensAtMost(text) + 1
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

/** An answer of texts, as far as they fit, and of lines at its end. */
export function boundedAnswer(texts: readonly string[], ...end: readonly string[]): string {
  const text = new BoundedText(END_TOKENS)
  text.addAll(texts)
  return text.end(...end)
}

/** A list as an answer: its head, its entries as far as they fit, and the call for the rest. */
export function listed(
  tool: string,
  args: Readonly<Record<string, unknown>> & { readonly offset: number },
  { head, entries, total }: { readonly head: string; readonly entries: readonly string[]; readonly total: number },
): string {
  const text = new BoundedText(END_TOKENS)
  text.add(head)
  const next = args.offset + text.addAll(entries)
  return text.end(...(next > args.offset && next < total ? [nextCall(tool, { ...args, offset: next })] : []))
}
