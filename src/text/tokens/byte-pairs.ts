import { NO_TOKEN, type TokenRanks } from './token-ranks.ts'

/**
 * Byte pair encoding: beginning with single bytes, of all neighbours the two that make the token of the lowest rank become
 * one part, the first of equals, until no two make any. Takes time with the square of the length.
 */
export class BytePairs {
  readonly #known: TokenRanks
  /** Where the parts begin, and at last where the last ends. */
  #starts = new Int32Array(1024)
  /** Of the token that each part makes with the next. */
  #ranks = new Int32Array(1024)

  constructor(known: TokenRanks) {
    this.#known = known
  }

  /** @returns of how many tokens these bytes are */
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

  /** @returns how many parts there are: one a byte */
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

  /** @returns the part that is to become one with the next, -1 where none is */
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
