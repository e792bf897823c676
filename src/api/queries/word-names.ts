import type { Mirror } from '../../mirror/open.ts'

const FIND_WORD = `select num from digest_words where word = ?`
const READ_WORD = `select word from digest_words where num = ?`

/** The names behind a digest's numbers. Names that the mirror has no number for get one below 0. */
export class WordNames {
  readonly #db: Mirror
  readonly #own: string[] = []
  readonly #nums = new Map<string, number>()

  constructor(db: Mirror) {
    this.#db = db
  }

  numOf(word: string): number {
    const known = this.#nums.get(word)
    if (known !== undefined) return known
    const held = this.#db.prepare<[string], number>(FIND_WORD).pluck().get(word)
    const num = held ?? -this.#own.push(word)
    this.#nums.set(word, num)
    return num
  }

  nameOf(num: number): string {
    if (num < 0) return this.#own[-num - 1] ?? ''
    return this.#db.prepare<[number], string>(READ_WORD).pluck().get(num) ?? ''
  }
}
