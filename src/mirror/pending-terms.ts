import type { ColumnTexts } from '../text/columns.ts'
import { indexTerms } from '../text/terms.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

const ADD_TERMS = `insert into message_terms (rowid, text, thinking, code, tool, attachment) values (?, ?, ?, ?, ?, ?)`
const DROP_TERMS = `delete from message_terms where rowid = ?`

/**
 * Full-text rows of one transaction, gathered and written in order of their keys: FTS5 writes out all that it has
 * gathered whenever a rowid is less than the one before, and newest-first reading would have it do so for every chat.
 */
export class PendingTerms {
  readonly #added = new Map<number, ColumnTexts>()
  readonly #dropped = new Set<number>()

  add(key: number, columns: ColumnTexts): void {
    this.#added.set(key, columns)
  }

  drop(key: number): void {
    if (!this.#added.delete(key)) this.#dropped.add(key)
  }

  write(db: Mirror): void {
    // FTS5 takes a rowid only as an integer, and a JavaScript number is bound as a real.
    for (const key of inOrder(this.#dropped)) prepared(db, DROP_TERMS).run(BigInt(key))
    for (const key of inOrder(this.#added.keys())) {
      const columns = this.#added.get(key)
      if (columns === undefined) continue
      const { text, thinking, code, tool, attachment } = columns
      prepared(db, ADD_TERMS).run(BigInt(key), ...[text, thinking, code, tool, attachment].map(indexTerms))
    }
  }
}

const inOrder = (keys: Iterable<number>): number[] => [...keys].sort((a, b) => a - b)
