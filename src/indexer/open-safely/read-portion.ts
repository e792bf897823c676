import type Database from 'better-sqlite3'

export const ITEMS_MAX = 1000
/** Few enough that most values are garbage before what is young is collected: see `daemon/heap-limits.ts`. */
const OCTETS_MAX = 1024 * 1024

export interface Portion {
  /** How many of the given items were read. */
  readonly taken: number
  readonly bytesRead: number
  readonly elapsedMs: number
}

/**
 * Reads the first of these items in one short transaction on a store of Cursor's: at least one, at most 1,000, and no
 * more once `readMsMax` milliseconds have passed or 1 MB was read.
 * @param read reads one item. @returns its bytes
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
    // Of a damaged page that a read met, and went on, the end of the transaction tells once more.
    if (!isRead) throw error
  }
  return { taken, bytesRead, elapsedMs: performance.now() - startedAt }
}

/** Reads what may lie on a damaged page of a store. @returns null where it does: damage costs what is damaged only */
export function tryRead<Value>(read: () => Value): { readonly value: Value } | null {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^SQLITE_(CORRUPT|IOERR)/.test(String(error.code))) return null
    throw error
  }
}
