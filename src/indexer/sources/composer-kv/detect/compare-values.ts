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
 * Compares the next rows above this rowid, at most so many.
 * @returns how many bytes were read, and the last rowid; null for that where nothing is left
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
  // Rows beyond what a number holds come all at once, and above them there is nothing.
  return { octets, last: last === undefined || !isExact(last) ? null : last.rowid }
}

/**
 * Reads these rows a page at a time and adds those to `dirty` whose size or checksum is not what the mirror holds.
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
    // What was read once stays as it was; that it cannot be read any more is told.
    for (const ref of page.unreadable)
      if (typeof findHeldRow(mirror, num, ref.key)?.checksum === 'number') dirty.add(ref, true)
    rest = rest.slice(page.taken)
    octets += page.bytesRead
    yield { bytesRead: page.bytesRead, elapsedMs: page.elapsedMs, rows: page.taken }
  }
  return octets
}
