import { noteUnindexed, takeFromBacklog, writeUnlisted } from './backlog.ts'
import type { Batch } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { cutParts, dropTerms, writeTerms } from './write-terms.ts'

/** Which parts of writing full-text rows are deferred. */
type Deferral = Pick<Batch, 'isIndexedLater' | 'isListedLater'>

/**
 * Collects the full-text rows of one transaction and writes them in order of their keys. FTS5 flushes its buffer whenever
 * a rowid is less than the previous one. Chats are read newest first, so it would flush for every chat otherwise.
 */
export class PendingTerms {
  readonly #added = new Map<number, string>()
  readonly #dropped = new Set<number>()

  /** @param partsJson the message's parts as stored */
  add(key: number, partsJson: string): void {
    this.#added.set(key, partsJson)
  }

  drop(key: number): void {
    if (!this.#added.delete(key)) this.#dropped.add(key)
  }

  write(db: Mirror, { isIndexedLater, isListedLater }: Deferral): void {
    const write = isListedLater ? writeUnlisted : writeTerms
    // A message in the backlog has no full-text row yet.
    for (const key of inOrder(this.#dropped)) if (!takeFromBacklog(db, key)) dropTerms(db, key)
    for (const key of inOrder(this.#added.keys())) {
      if (isIndexedLater) noteUnindexed(db, key)
      else write(db, key, cutParts(this.#added.get(key) ?? '[]'))
    }
  }
}

const inOrder = (keys: Iterable<number>): number[] => [...keys].sort((a, b) => a - b)
