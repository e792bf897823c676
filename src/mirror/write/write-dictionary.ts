import { isSignTerm } from '../../text/terms/marks.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

const ADD_TERM = `insert into terms (term) values (?) on conflict do nothing`

/** Shorter terms hold nothing but themselves; most longer ones are pasted data, and most long numbers are stamps. */
const LENGTH_MIN = 2
const LENGTH_MAX = 40
const DIGITS_MAX = 8
/** A sign takes four bytes at most. */
const OCTETS_MAX = 4 * LENGTH_MAX

const remembered = new WeakMap<Mirror, SeenTerms>()

function seenBy(db: Mirror): SeenTerms {
  let seen = remembered.get(db)
  if (seen === undefined) remembered.set(db, (seen = new SeenTerms()))
  return seen
}

/** The list of terms lost some: whichever is met next may have to join it again. */
export function forgetSeenTerms(db: Mirror): void {
  remembered.delete(db)
}

/**
 * One transaction that adds rows of terms: those never seen before join the list in order, once all are known. Where it
 * fails, nothing counts as seen.
 */
export function listingTerms<Outcome>(db: Mirror, write: () => Outcome): Outcome {
  const seen = seenBy(db)
  try {
    return db.transaction(() => {
      seen.waiting = []
      const outcome = write()
      addInOrder(db, seen.waiting)
      return outcome
    })()
  } catch (error) {
    remembered.delete(db)
    throw error
  } finally {
    seen.waiting = null
  }
}

/** Adds the terms of a row to the list of all terms there are, out of which `*inside*` is answered. */
export function writeDictionary(db: Mirror, columns: readonly Buffer[]): void {
  const seen = seenBy(db)
  const fresh = seen.freshOf(columns)
  if (seen.waiting === null) addInOrder(db, fresh)
  else for (const term of fresh) seen.waiting.push(term)
}

/** What stands in the list already changes nothing. */
function addInOrder(db: Mirror, terms: readonly string[]): void {
  for (const term of terms.toSorted()) prepared(db, ADD_TERM).run(term)
}

/** Two signs beyond ASCII, of which there are as many pairs as text, are mostly of a script that needs no list. */
const pair = /^[^a-z\d]/

function isListed(term: string): boolean {
  if (term.length < LENGTH_MIN || term.length > LENGTH_MAX || (term.length === LENGTH_MIN && pair.test(term)))
    return false
  const isStamp = term.length > DIGITS_MAX && /^\d+$/.test(term)
  return !isStamp && !isSignTerm(term)
}

const SPACE = 0x20
const LOW_SEED = 0x811c_9dc5 | 0
const HIGH_SEED = 0x2545_f491

/** MemoryBudget for so many terms at first, and at most: 8 MB. */
const SLOTS_MIN = 2 ** 14
const SLOTS_MAX = 2 ** 20

/** Which terms were seen, by 64 bits of each: two terms that share them are less likely than a broken disk. */
class SeenTerms {
  /** Two numbers a slot, side by side, so that a look costs one line of the processor's cache. */
  #slots = new Int32Array(2 * SLOTS_MIN)
  #mask = SLOTS_MIN - 1
  #filled = 0
  /** Terms of a transaction that goes on, not yet in the list. */
  waiting: string[] | null = null

  /**
   * The terms of a row that belong into the list and were not seen before. A first pass walks hundreds of megabytes of
   * them: no string is made of a term that was.
   */
  freshOf(columns: readonly Buffer[]): string[] {
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
    const slots = this.#slots
    const mask = this.#mask
    // An empty slot is nothing but zeros.
    const high = given | 1
    let slot = (low ^ (given >>> 12)) & mask
    for (; slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[2 * slot] === low && slots[2 * slot + 1] === high) return false
    }
    slots[2 * slot] = low
    slots[2 * slot + 1] = high
    this.#filled += 1
    if (this.#filled * 3 > (mask + 1) * 2) this.#grow()
    return true
  }

  /** Once it is at its largest it forgets all: what is seen again is added again, which changes nothing. */
  #grow(): void {
    const before = this.#slots
    this.#filled = 0
    if (this.#mask + 1 === SLOTS_MAX) {
      before.fill(0)
      return
    }
    this.#mask = 2 * this.#mask + 1
    this.#slots = new Int32Array(2 * (this.#mask + 1))
    for (let at = 0; at < before.length; at += 2) {
      if (before[at + 1] !== 0) this.#isNew(before[at] ?? 0, before[at + 1] ?? 0)
    }
  }
}
