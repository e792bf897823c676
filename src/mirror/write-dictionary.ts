import { isSignTerm } from '../text/marks.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

const ADD_TERM = `insert into terms (term) values (?) on conflict do nothing`

/** Shorter terms hold nothing but themselves; most longer ones are pasted data, and most long numbers are stamps. */
const LENGTH_MIN = 2
const LENGTH_MAX = 40
const DIGITS_MAX = 8
/** A sign takes four bytes at most. */
const OCTETS_MAX = 4 * LENGTH_MAX

const remembered = new WeakMap<Mirror, SeenTerms>()

/**
 * Adds the terms of a row to the list of all terms there are, out of which `*inside*` is answered. A first pass walks
 * hundreds of megabytes of them: no string is made of a term that was seen before.
 */
export function writeDictionary(db: Mirror, columns: readonly Buffer[]): void {
  const seen = remembered.get(db) ?? new SeenTerms()
  remembered.set(db, seen)
  for (const column of columns) {
    let start = 0
    let low = LOW_SEED
    let high = HIGH_SEED
    for (let at = 0; at <= column.length; at += 1) {
      const unit = at < column.length ? (column[at] ?? SPACE) : SPACE
      if (unit !== SPACE) {
        low = Math.imul(low ^ unit, 0x0100_0193)
        high = Math.imul(high ^ (high >>> 15) ^ unit, 0x85eb_ca6b)
        continue
      }
      const length = at - start
      if (length >= LENGTH_MIN && length <= OCTETS_MAX && seen.isNew(low, high)) {
        addTerm(db, column.toString('utf8', start, at))
      }
      start = at + 1
      low = LOW_SEED
      high = HIGH_SEED
    }
  }
}

/** Two signs beyond ASCII, of which there are as many pairs as text, are mostly of a script that needs no list. */
const pair = /^[^a-z\d]/

function addTerm(db: Mirror, term: string): void {
  if (term.length < LENGTH_MIN || term.length > LENGTH_MAX || (term.length === LENGTH_MIN && pair.test(term))) return
  const isStamp = term.length > DIGITS_MAX && /^\d+$/.test(term)
  if (!isStamp && !isSignTerm(term)) prepared(db, ADD_TERM).run(term)
}

const SPACE = 0x20
const LOW_SEED = 0x811c_9dc5 | 0
const HIGH_SEED = 0x2545_f491

/** 4 MB. */
const SLOTS = 2 ** 19
const FILLED_MAX = 350_000

/** Which terms were seen, by 64 bits of each: two terms that share them are less likely than a broken disk. */
class SeenTerms {
  readonly #lows = new Int32Array(SLOTS)
  readonly #highs = new Int32Array(SLOTS)
  #filled = 0

  isNew(low: number, given: number): boolean {
    // An empty slot is nothing but zeros.
    const high = given | 1
    let slot = (low ^ (given >>> 7)) & (SLOTS - 1)
    for (; this.#highs[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) {
      if (this.#lows[slot] === low && this.#highs[slot] === high) return false
    }
    if (this.#filled >= FILLED_MAX) this.#forget()
    this.#lows[slot] = low
    this.#highs[slot] = high
    this.#filled += 1
    return true
  }

  /** What is seen again is added again, which changes nothing. */
  #forget(): void {
    this.#lows.fill(0)
    this.#highs.fill(0)
    this.#filled = 0
  }
}
