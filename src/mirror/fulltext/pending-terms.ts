import { noteUnindexed, takeFromBacklog, writeUnlisted } from './backlog.ts'
import type { Batch } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { cutParts, dropTerms, writeTerms } from './write-terms.ts'

/** What of the writing of full-text rows is left for later. */
type Deferral = Pick<Batch, 'isIndexedLater' | 'isListedLater'>

/**
 * Full-text rows of one transaction, gathered and written in order of their keys: FTS5 writes out all that it has
 * gathered whenever a rowid is less than the one before, and newest-first reading would have it do so for every chat.
 */
export class PendingTerms {
  readonly #added = new Map<number, string>()
  readonly #dropped = new Set<number>()

  /** @param partsJson the message's parts as they are kept */
  add(key: number, partsJson: string): void {
    this.#added.set(key, partsJson)
  }

  drop(key: number): void {
    if (!this.#added.delete(key)) this.#dropped.add(key)
  }

  write(db: Mirror, { isIndexedLater, isListedLater }: Deferral): void {
    const write = isListedLater ? writeUnlisted : writeTerms
    // A message that waits in the backlog has no full-text row yet.
    for (const key of inOrder(this.#dropped)) if (!takeFromBacklog(db, key)) dropTerms(db, key)
    for (const key of inOrder(this.#added.keys())) {
      if (isIndexedLater) noteUnindexed(db, key)
      else write(db, key, cutParts(this.#added.get(key) ?? '[]'))
    }
  }
}

const inOrder = (keys: Iterable<number>): number[] => [...keys].sort((a, b) => a - b)
