import type { Part } from '../../model/part.ts'
import { sayingsOf } from './said.ts'

/** Bytes of a piece: enough to be somebody's words and nobody else's. */
export const PIECE_OCTETS = 24
/** Of many bodies one piece of each is looked for, and of very many not of every one. */
const MANY = 20_000
const PIECES_MAX = 100_000

/** Pieces of what is removed, as JSON spells them, to be looked for when it is gone. They are kept in memory alone. */
export class Pieces {
  readonly #found = new Set<string>()
  #bodies = 0

  /** @param partsJson a body, before it goes */
  take(partsJson: string): void {
    this.#bodies += 1
    if (this.#found.size >= PIECES_MAX) return
    let longest = ''
    for (const { text } of sayingsOf(JSON.parse(partsJson) as readonly Part[]))
      if (text.length > longest.length) longest = text
    const bytes = Buffer.from(JSON.stringify(longest).slice(1, -1))
    const last = bytes.length - PIECE_OCTETS
    if (last < 0) return
    const places = this.#bodies > MANY ? [last >> 1] : [0, last >> 1, last]
    for (const at of places) this.#found.add(bytes.toString('latin1', at, at + PIECE_OCTETS))
  }

  /** A letter for each byte. */
  get all(): readonly string[] {
    return [...this.#found]
  }
}
