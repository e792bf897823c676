import { NO_TOKEN, type TokenRanks } from './token-ranks.ts'

/**
 * Byte pair encoding. It begins with single bytes, and repeatedly joins the two neighbours that form the token of the lowest
 * rank (the first of equals), until no two form a token. The time grows with the square of the length.
 */
export class BytePairs {
  readonly #known: TokenRanks
  /** Starts of the parts, then the end of the last part. */
  #starts = new Int32Array(1024)
  /** Rank of the token that each part forms with the next one. */
  #ranks = new Int32Array(1024)

  constructor(known: TokenRanks) {
    this.#known = known
  }

  /** @returns the number of tokens in these bytes */
  count(bytes: Uint8Array, from: number, to: number): number {
    if (from >= to) return 0
    if (this.#known.rankOf(bytes, from, to) !== NO_TOKEN) return 1
    let count = this.#begin(bytes, from, to)
    for (let part = this.#lowest(count); part >= 0; part = this.#lowest(count)) {
      this.#starts.copyWithin(part + 1, part + 2, count + 1)
      this.#ranks.copyWithin(part + 1, part + 2, count + 1)
      count -= 1
      if (part > 0) this.#rank(bytes, part - 1, count)
      this.#rank(bytes, part, count)
    }
    return count
  }

  /** @returns the number of parts: one per byte */
  #begin(bytes: Uint8Array, from: number, to: number): number {
    const count = to - from
    if (this.#starts.length <= count) {
      this.#starts = new Int32Array(2 * count)
      this.#ranks = new Int32Array(2 * count)
    }
    for (let part = 0; part <= count; part += 1) this.#starts[part] = from + part
    for (let part = 0; part < count; part += 1) this.#rank(bytes, part, count)
    return count
  }

  #rank(bytes: Uint8Array, part: number, count: number): void {
    const hasNext = part + 1 < count
    const [from, to] = [this.#starts[part] ?? 0, this.#starts[part + 2] ?? 0]
    this.#ranks[part] = hasNext ? this.#known.rankOf(bytes, from, to) : NO_TOKEN
  }

  /** @returns the part to join with the next one; -1 if there is none */
  #lowest(count: number): number {
    const ranks = this.#ranks
    let lowest = -1
    let lowestRank = NO_TOKEN
    for (let part = 0; part < count; part += 1) {
      const rank = ranks[part] ?? NO_TOKEN
      if (rank >= lowestRank) continue
      lowest = part
      lowestRank = rank
    }
    return lowest
  }
}
