const BASE = 0x0100_0193
const MAP_BITS = 22

/**
 * Searches for very many pieces of equal length in one walk over the bytes. A rolling hash finds the possible matches
 * (Rabin–Karp).
 */
export class PieceSearch {
  readonly #length: number
  readonly #pieces = new Map<number, string[]>()
  readonly #may = new Uint8Array(1 << (MAP_BITS - 3))
  /** Factor of the byte that leaves the window. */
  readonly #leaving: number

  /** @param pieces Latin-1 strings, one character per byte, all of this length */
  constructor(pieces: Iterable<string>, length: number) {
    this.#length = length
    let leaving = 1
    for (let at = 1; at < length; at += 1) leaving = Math.imul(leaving, BASE)
    this.#leaving = leaving
    for (const piece of pieces) {
      const sum = this.#sumOf(Buffer.from(piece, 'latin1'), 0)
      const place = sum >>> (32 - MAP_BITS)
      this.#may[place >> 3] = (this.#may[place >> 3] ?? 0) | (1 << (place & 7))
      this.#pieces.set(sum, [...(this.#pieces.get(sum) ?? []), piece])
    }
  }

  /** Calls `onFound` for every occurrence of every piece. */
  scan(bytes: Buffer, onFound: (piece: string, at: number) => void): void {
    const length = this.#length
    if (bytes.length < length || this.#pieces.size === 0) return
    const may = this.#may
    const leaving = this.#leaving
    let sum = this.#sumOf(bytes, 0)
    for (let at = 0; ; at += 1) {
      const place = sum >>> (32 - MAP_BITS)
      if (((may[place >> 3] ?? 0) & (1 << (place & 7))) !== 0) this.#compare(bytes, at, sum, onFound)
      if (at + length >= bytes.length) return
      sum = (Math.imul((sum - Math.imul(bytes[at] ?? 0, leaving)) | 0, BASE) + (bytes[at + length] ?? 0)) | 0
    }
  }

  #compare(bytes: Buffer, at: number, sum: number, onFound: (piece: string, at: number) => void): void {
    const pieces = this.#pieces.get(sum)
    if (pieces === undefined) return
    const here = bytes.toString('latin1', at, at + this.#length)
    if (pieces.includes(here)) onFound(here, at)
  }

  #sumOf(bytes: Buffer, from: number): number {
    let sum = 0
    for (let at = from; at < from + this.#length; at += 1) sum = (Math.imul(sum, BASE) + (bytes[at] ?? 0)) | 0
    return sum
  }
}
