import type Database from 'better-sqlite3'

export const ITEMS_MAX = 1000
/** Few enough that most values are garbage before the young generation is collected. */
const OCTETS_MAX = 1024 * 1024

export interface Portion {
  /** How many of the items were read. */
  readonly taken: number
  readonly bytesRead: number
  readonly elapsedMs: number
}

/**
 * Reads the first of these items in one short transaction on a store of Cursor's: at least one and at most 1,000,
 * stopping after `readMsMax` milliseconds or 1 MB.
 * @param read reads one item and returns its bytes
 */
export function readPortion<Item>(
  db: Database.Database,
  items: readonly Item[],
  readMsMax: number,
  read: (item: Item) => number,
): Portion {
  const startedAt = performance.now()
  let taken = 0
  let bytesRead = 0
  let isRead = false
  const readAll = db.transaction(() => {
    for (const item of items.slice(0, ITEMS_MAX)) {
      if (taken > 0 && (bytesRead > OCTETS_MAX || performance.now() - startedAt > readMsMax)) break
      bytesRead += read(item)
      taken += 1
    }
    isRead = true
  })
  try {
    readAll()
  } catch (error) {
    // If a read met a damaged page and went on, the end of the transaction reports the page once more.
    if (!isRead) throw error
  }
  return { taken, bytesRead, elapsedMs: performance.now() - startedAt }
}

/**
 * Reads data that may be on a damaged page of a store.
 * @returns null if it is, so that damage affects only the damaged rows
 */
export function tryRead<Value>(read: () => Value): { readonly value: Value } | null {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^SQLITE_(CORRUPT|IOERR)/.test(String(error.code))) return null
    throw error
  }
}
