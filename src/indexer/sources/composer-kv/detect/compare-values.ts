import type { Mirror } from '../../../../mirror/open.ts'
import { findHeldRow } from '../../../../mirror/sources/source-state.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { DirtyChats } from '../read/dirty-chats.ts'
import { isExact, listAbove, readPage, type RowRef } from '../read/read.ts'

export interface CompareStep {
  readonly bytesRead: number
  readonly elapsedMs: number
  readonly rows: number
}

interface Compared {
  readonly file: OpenFile
  readonly mirror: Mirror
  readonly num: number
}

/**
 * Compares the next rows above this rowid, at most `rowsMax`.
 * @returns how many bytes were read, and the last rowid, which is null if no rows are left
 */
export function* compareAbove(
  compared: Compared,
  after: number,
  rowsMax: number,
  dirty: DirtyChats,
): Generator<CompareStep, { readonly octets: number; readonly last: number | null }> {
  const refs = compared.file.read((db) => listAbove(db, after, rowsMax))
  const octets = yield* compareValues(compared, refs, dirty)
  const last = refs.at(-1)
  // Rowids too large for a JavaScript number all look the same and are the last ones.
  return { octets, last: last === undefined || !isExact(last) ? null : last.rowid }
}

/**
 * Reads these rows page by page and adds those to `dirty` whose size or checksum differs from the mirror.
 * @returns how many bytes were read
 */
export function* compareValues(
  { file, mirror, num }: Compared,
  refs: readonly RowRef[],
  dirty: DirtyChats,
): Generator<CompareStep, number> {
  let octets = 0
  for (let rest = refs; rest.length > 0;) {
    const from = rest
    const page = file.read((db) => readPage(db, from, file.readMsMax))
    for (const row of page.rows) {
      const known = findHeldRow(mirror, num, row.key)
      if (known?.octets !== row.octets || known.checksum !== row.checksum) dirty.add(row, true)
    }
    // The mirror keeps what it read of a row before; the row is added so that its unreadability is recorded.
    for (const ref of page.unreadable)
      if (typeof findHeldRow(mirror, num, ref.key)?.checksum === 'number') dirty.add(ref, true)
    rest = rest.slice(page.taken)
    octets += page.bytesRead
    yield { bytesRead: page.bytesRead, elapsedMs: page.elapsedMs, rows: page.taken }
  }
  return octets
}
