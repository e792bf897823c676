import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

const FIND_WORD = `select num from digest_words where word = ?`
const ADD_WORD = `insert into digest_words (word) values (?)`

/** Names of tools, models and files by number. Kept for one transaction: undone, it must be forgotten. */
export class DigestWords {
  readonly #db: Mirror
  readonly #nums = new Map<string, number>()

  constructor(db: Mirror) {
    this.#db = db
  }

  numOf(word: string): number {
    const known = this.#nums.get(word)
    if (known !== undefined) return known
    const row = prepared<{ num: number }>(this.#db, FIND_WORD).get(word)
    const num = row?.num ?? Number(prepared(this.#db, ADD_WORD).run(word).lastInsertRowid)
    this.#nums.set(word, num)
    return num
  }
}
