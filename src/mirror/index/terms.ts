import { parseParts } from '../write/pack-message.ts'
import { columnNames, isSignTerm, markTerms, searchColumns } from '../../text/terms/columns.ts'
import { indexTermBytes } from '../../text/terms/terms.ts'

/** The terms of one message as UTF-8: one buffer for each column of `columnNames`, then one for its marks. */
export type MessageTerms = readonly Buffer[]

const NO_TERMS = Buffer.alloc(0)

/** @param partsJson a message's parts as stored */
export function cutParts(partsJson: string): MessageTerms {
  const parts = parseParts(partsJson)
  const columns = searchColumns(parts)
  const cut = columnNames.map((name) => (columns[name] === '' ? NO_TERMS : indexTermBytes(columns[name])))
  return [...cut, Buffer.from(markTerms(parts))]
}

/** Shorter terms contain no others. Most longer terms are pasted data, and most long numbers are timestamps. */
const LENGTH_MIN = 2
const LENGTH_MAX = 40
const DIGITS_MAX = 8
/** A character takes at most four bytes. */
const OCTETS_MAX = 4 * LENGTH_MAX

/** A pair of non-ASCII characters. There are very many of them, mostly of unspaced scripts, which need no list. */
const pair = /^[^a-z\d]/

/** Whether the list of all terms has this term. It answers searches such as `*inside*`. */
export function isListed(term: string): boolean {
  if (term.length < LENGTH_MIN || term.length > LENGTH_MAX || (term.length === LENGTH_MIN && pair.test(term)))
    return false
  const isStamp = term.length > DIGITS_MAX && /^\d+$/.test(term)
  return !isStamp && !isSignTerm(term)
}

const SPACE = 0x20
const LOW_SEED = 0x811c_9dc5 | 0
const HIGH_SEED = 0x2545_f491

/** They take 4 MB. */
const SLOTS = 2 ** 19

/**
 * Finds terms that were not seen lately, by a 64-bit hash of each: a collision is less likely than a broken disk. Two terms
 * may share a slot. Then one of them is found again, which changes nothing.
 */
export class FreshTerms {
  /** Two adjacent numbers per slot, so a lookup touches one cache line. */
  readonly #slots = new Int32Array(2 * SLOTS)

  /**
   * The terms of a row that belong in the list and were not seen before. A first pass reads hundreds of megabytes of terms,
   * so no string is created for a term that was seen.
   */
  of(columns: readonly Buffer[]): string[] {
    const fresh: string[] = []
    for (const column of columns) {
      const end = column.length
      for (let at = 0, start = 0; at < end; at += 1, start = at) {
        let low = LOW_SEED
        let high = HIGH_SEED
        for (let unit = column[at] ?? SPACE; unit !== SPACE; unit = at < end ? (column[at] ?? SPACE) : SPACE) {
          low = Math.imul(low ^ unit, 0x0100_0193)
          high = Math.imul((high + unit) | 0, 0x9e37_79b1)
          at += 1
        }
        if (at - start < LENGTH_MIN || at - start > OCTETS_MAX || !this.#isNew(low, high)) continue
        const term = column.toString('utf8', start, at)
        if (isListed(term)) fresh.push(term)
      }
    }
    return fresh
  }

  #isNew(low: number, given: number): boolean {
    // An empty slot is all zeros.
    const high = given | 1
    const at = 2 * ((low ^ (given >>> 12)) & (SLOTS - 1))
    if (this.#slots[at] === low && this.#slots[at + 1] === high) return false
    this.#slots[at] = low
    this.#slots[at + 1] = high
    return true
  }
}
