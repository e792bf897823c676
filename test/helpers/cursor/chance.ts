/** Pseudo-random numbers that are the same for the same seed. */
export class Chance {
  #state: number

  constructor(seed: string) {
    // FNV-1a: similar seeds lead to very different states.
    this.#state = 2_166_136_261
    for (const sign of seed) this.#state = Math.imul(this.#state ^ (sign.codePointAt(0) ?? 0), 16_777_619)
  }

  /** A number from 0 (included) to 1 (excluded), by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer; both ends are included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.between(0, items.length - 1)] ?? items[0]
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.between(0, 15).toString(16)).join('')
  }

  uuid(): string {
    const variant = this.pick(['8', '9', 'a', 'b'])
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const keyed = items.map((item) => ({ item, key: this.next() }))
    return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item)
  }
}
